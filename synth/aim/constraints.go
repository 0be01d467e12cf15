package aim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

// constraint is a rule as the cells that it rules out.
type constraint struct {
	text  string
	zeros marginal.Zeros
}

// maxRuleCells bounds the table of a rule.
const maxRuleCells = 1 << 20

// parseConstraints reads constraints of two forms:
//
//	if NAME OP VALUE [and NAME OP VALUE]... then NAME OP VALUE          see workload.Where
//	NAME OP NAME                                                        OP is one of < <= = >= >
//
// The second rules out the pairs of bins in which no two values agree with it. Two bins that
// overlap, with more than one value each, are allowed.
func parseConstraints(s *schema.Schema, texts []string) ([]constraint, error) {
	var out []constraint
	for _, text := range texts {
		z, err := parseConstraint(s, strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("aim: constraint %q: %w: %w", text, err, synth.ErrConfig)
		}
		if !slices.Contains(z.Impossible, false) {
			return nil, fmt.Errorf("aim: constraint %q rules out every row: %w",
				text, synth.ErrConfig)
		}
		out = append(out, constraint{text, z})
	}
	return out, nil
}

func parseConstraint(s *schema.Schema, text string) (marginal.Zeros, error) {
	body, ok := strings.CutPrefix(text, "if ")
	if !ok {
		return order(s, text)
	}
	premise, conclusion, ok := strings.Cut(body, " then ")
	if !ok {
		return marginal.Zeros{}, fmt.Errorf("if without then")
	}
	var conditions []table.Condition
	for _, part := range append(strings.Split(premise, " and "), conclusion) {
		c, err := workload.Where(s, part)
		if err != nil {
			return marginal.Zeros{}, err
		}
		conditions = append(conditions, c)
	}
	var cols []int
	for _, c := range conditions {
		if !slices.Contains(cols, c.Column) {
			cols = append(cols, c.Column)
		}
	}
	last := len(conditions) - 1
	return zeros(s, cols, func(code func(col int) int) bool {
		for _, c := range conditions[:last] {
			if !c.Allow[code(c.Column)] {
				return false
			}
		}
		return !conditions[last].Allow[code(conditions[last].Column)]
	})
}

// zeros lists the cells over cols for which impossible holds.
func zeros(
	s *schema.Schema, cols []int, impossible func(code func(col int) int) bool,
) (marginal.Zeros, error) {
	sizes, cells := s.Sizes(), 1
	for _, c := range cols {
		if cells > maxRuleCells/sizes[c] {
			return marginal.Zeros{}, fmt.Errorf("its columns have more than %d cells", maxRuleCells)
		}
		cells *= sizes[c]
	}
	z := marginal.Zeros{Cols: cols, Impossible: make([]bool, cells)}
	at := map[int]int{}
	for i := range z.Impossible {
		k := i
		for j := len(cols) - 1; j >= 0; j-- {
			at[cols[j]] = k % sizes[cols[j]]
			k /= sizes[cols[j]]
		}
		z.Impossible[i] = impossible(func(col int) int { return at[col] })
	}
	return z, nil
}

// order is a rule between two columns.
func order(s *schema.Schema, text string) (marginal.Zeros, error) {
	for _, op := range []string{"<=", ">=", "<", ">", "="} {
		left, right, ok := strings.Cut(text, op)
		if !ok {
			continue
		}
		a, b := s.Index(strings.TrimSpace(left)), s.Index(strings.TrimSpace(right))
		if a < 0 || b < 0 || a == b {
			return marginal.Zeros{}, fmt.Errorf("%q must stand between the names of two columns",
				op)
		}
		if op == ">" || op == ">=" {
			a, b, op = b, a, map[string]string{">": "<", ">=": "<="}[op]
		}
		x, err := schema.NewCodec(s.Columns[a])
		if err != nil {
			return marginal.Zeros{}, err
		}
		y, err := schema.NewCodec(s.Columns[b])
		if err != nil {
			return marginal.Zeros{}, err
		}
		if !s.Columns[a].Kind.Ordered() || !s.Columns[b].Kind.Ordered() {
			return marginal.Zeros{}, fmt.Errorf("categories have no order: use if … then")
		}
		return zeros(s, []int{a, b}, func(code func(col int) int) bool {
			i, j := uint16(code(a)), uint16(code(b))
			if m, ok := x.MissingCode(); ok && m == i {
				return false
			}
			if m, ok := y.MissingCode(); ok && m == j {
				return false
			}
			lo, hi := x.Bin(i)
			from, to := y.Bin(j)
			switch op {
			case "<":
				return lo >= to
			case "<=":
				return lo > to
			}
			return lo > to || hi < from
		})
	}
	return marginal.Zeros{}, fmt.Errorf("it is neither if … then … nor a comparison of two columns")
}
