package workload

import "github.com/decoy-dp/decoy/table"

// Run is the cells from Lo to Hi−1 of a table.
type Run struct{ Lo, Hi int32 }

// Runs lists the cells of a table over cols (row-major, last fastest; sizes[c] codes of column c;
// fewer than 2³¹ cells) for which x holds, as increasing runs with gaps between them. x must touch
// only columns in cols. Codes of a column that leave the same condition on the columns behind it
// are worked out once, so the time is about that of writing the runs down.
func Runs(x table.Expr, sizes, cols []int) []Run {
	own := make([]int, len(cols))
	for i, c := range cols {
		own[i] = sizes[c]
	}
	return runs(x, cols, own)
}

// runs is Runs with the number of codes of each of cols.
func runs(x table.Expr, cols, sizes []int) []Run {
	inner := 1 // cells behind a code of the first column
	for _, n := range sizes {
		inner *= n
	}
	x = simplify(x)
	if constant, value := constantOf(x); constant {
		if !value || inner == 0 {
			return nil
		}
		return []Run{{0, int32(inner)}}
	}
	inner /= sizes[0]
	var out []Run
	emit := func(code int, list []Run) {
		base := int32(code * inner)
		for _, r := range list {
			if k := len(out) - 1; k >= 0 && out[k].Hi == base+r.Lo {
				out[k].Hi = base + r.Hi
			} else {
				out = append(out, Run{base + r.Lo, base + r.Hi})
			}
		}
	}
	conditions := conditionsOn(x, cols[0], nil)
	if len(conditions) == 0 {
		list := runs(x, cols[1:], sizes[1:])
		for code := range sizes[0] {
			emit(code, list)
		}
		return out
	}
	known := map[string][]Run{}
	sig := make([]byte, len(conditions))
	for code := range sizes[0] {
		for k, cond := range conditions {
			sig[k] = 0
			if cond.Allow[code] {
				sig[k] = 1
			}
		}
		list, ok := known[string(sig)]
		if !ok {
			list = runs(fix(x, cols[0], code), cols[1:], sizes[1:])
			known[string(sig)] = list
		}
		emit(code, list)
	}
	return out
}
