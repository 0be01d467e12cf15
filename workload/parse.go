package workload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

const (
	maxFile     = 4 << 20 // bytes
	maxProblems = 30      // reported one by one
	version     = 1       // of the format, the value of the key decoy_workload
	// bytes of conditions that ranges and prefix may make: one a code and item
	maxAllow = 1 << 28
)

// Load reads the workload file at path, as Parse does, for questions to a model: its conditions and
// ranges may begin and end anywhere (see [Item.Fine]).
func Load(path string, s *schema.Schema) (*Workload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return parse(data, s, true)
}

// Parse reads a workload file about the columns of s:
//
//	decoy_workload: 1
//	queries:
//	  - marginal: [age, sex]                  # the table of these columns
//	    weight: 2                             # any entry: default 1
//	    name: people                          # any entry that is one item
//	  - marginals: all pairs                  # all pairs, all triples, or a degree
//	    columns: [age, sex, income]           # optional: among these
//	  - where: age >= 30 and not (sex = F or married in (yes, "no, but"))
//	  - range: {column: age, from: 30, below: 50}  # from, and below or to (inclusive)
//	  - ranges: age                           # every interval of its bins
//	  - prefix: age                           # up to each of its bins: cumulative counts
//
// The error joins everything that is wrong, each with its line; each wraps ErrInvalid. Unknown and
// repeated keys, anchors and tags are errors.
func Parse(data []byte, s *schema.Schema) (*Workload, error) { return parse(data, s, false) }

func parse(data []byte, s *schema.Schema, fine bool) (*Workload, error) {
	p := &fileParser{fine: fine}
	if len(data) > maxFile {
		return nil, fmt.Errorf("workload: the file is longer than %d MiB: %w", maxFile>>20, ErrInvalid)
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	p.schema, p.codecs = s, codecs
	p.file(data)
	if len(p.found) > 0 {
		return nil, errors.Join(p.found...)
	}
	return New(s, p.items)
}

type fileParser struct {
	schema *schema.Schema
	codecs []*schema.Codec
	fine   bool // conditions may cut bins
	items  []Item
	allow  int // bytes of conditions that ranges and prefix made
	found  []error
}

// problem reports what is wrong with a line.
func (p *fileParser) problem(line int, format string, args ...any) {
	if len(p.found) == maxProblems {
		p.found = append(p.found, fmt.Errorf("workload: and more problems: %w", ErrInvalid))
	}
	if len(p.found) < maxProblems {
		p.found = append(p.found, fmt.Errorf("workload: line %d: %s: %w", line,
			fmt.Sprintf(format, args...), ErrInvalid))
	}
}

// file reads the whole document.
func (p *fileParser) file(data []byte) {
	root := p.reader().Document(data, "a workload", "decoy_workload: 1")
	if root == nil {
		return
	}
	top := p.keys(root, "decoy_workload", "queries")
	if top == nil {
		return
	}
	if n := top["decoy_workload"]; n == nil || n.Kind != yaml.ScalarNode ||
		n.Value != strconv.Itoa(version) {
		p.problem(lineOf(n, root), "the key decoy_workload must be %d, the version of the format",
			version)
	}
	list := top["queries"]
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		p.problem(lineOf(list, root), "the key queries must hold a list of queries")
		return
	}
	for _, n := range list.Content {
		p.entry(n)
		if len(p.items) > MaxItems {
			p.problem(n.Line, "more than %d items", MaxItems)
			return
		}
	}
}

func lineOf(n, otherwise *yaml.Node) int {
	if n == nil {
		return otherwise.Line
	}
	return n.Line
}

func (p *fileParser) reader() yamlfile.Reader {
	return yamlfile.Reader{Report: func(line int, text string) {
		p.problem(max(1, line), "%s", text)
	}}
}

// keys gives the values of a mapping; nil if it is none.
func (p *fileParser) keys(n *yaml.Node, allowed ...string) map[string]*yaml.Node {
	values := p.reader().Fields(n, "", allowed)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return values
}

var kinds = []string{"marginal", "marginals", "where", "range", "ranges", "prefix"}

// entry reads one entry of the list.
func (p *fileParser) entry(n *yaml.Node) {
	values := p.keys(n, append([]string{"weight", "name", "columns"}, kinds...)...)
	if values == nil {
		return
	}
	kind := ""
	for _, k := range kinds {
		if values[k] != nil {
			if kind != "" {
				p.problem(n.Line, "has both %s and %s: an entry is one of %s", kind, k,
					strings.Join(kinds, ", "))
				return
			}
			kind = k
		}
	}
	if kind == "" {
		p.problem(n.Line, "an entry needs one of %s", strings.Join(kinds, ", "))
		return
	}
	weight := 1.0
	if w := values["weight"]; w != nil {
		v, err := yamlfile.Number(w)
		if err != nil || !(v > 0 && v <= 1024) {
			p.problem(w.Line, "weight must be a number in (0, 1024]")
			return
		}
		weight = v
	}
	if c := values["columns"]; c != nil && kind != "marginals" {
		p.problem(c.Line, "columns goes with marginals only")
		return
	}
	items := p.items
	p.items = nil
	p.kind(kind, values[kind], values["columns"])
	if name := values["name"]; name != nil {
		if len(p.items) > 1 || name.Kind != yaml.ScalarNode {
			p.problem(name.Line, "name must be a text, and the entry a single item")
		} else if len(p.items) == 1 {
			p.items[0].Name = name.Value
		}
	}
	for i := range p.items {
		p.items[i].Weight = weight
	}
	p.items = append(items, p.items...)
}

// kind reads the value of the key that says what an entry is.
func (p *fileParser) kind(kind string, n, columns *yaml.Node) {
	switch kind {
	case "marginal":
		if cols := p.columns(n); cols != nil {
			p.items = []Item{{Cols: cols}}
		}
	case "marginals":
		p.marginals(n, columns)
	case "where":
		if n.Kind != yaml.ScalarNode {
			p.problem(n.Line, "where must be a text such as age >= 30 and sex = F")
			return
		}
		x, fine, err := p.within(func(columns func(string) (column, error)) (table.Expr, error) {
			return condition(n.Value, columns)
		})
		if err != nil {
			p.problem(n.Line, "where: %v", err)
			return
		}
		p.items = []Item{{Where: x, Fine: fine, Name: n.Value}}
	case "range":
		p.interval(n)
	default: // ranges, prefix
		if col, ok := p.columnOf(n); ok {
			p.intervals(col, kind == "prefix", n.Line)
		}
	}
}

func (p *fileParser) marginals(n, columns *yaml.Node) {
	degree, err := strconv.Atoi(n.Value)
	switch n.Value {
	case "all pairs":
		degree, err = 2, nil
	case "all triples":
		degree, err = 3, nil
	}
	if n.Kind != yaml.ScalarNode || err != nil || degree < 1 {
		p.problem(n.Line, "marginals must be all pairs, all triples, or a degree of at least 1")
		return
	}
	cols := make([]int, len(p.codecs))
	for i := range cols {
		cols[i] = i
	}
	if columns != nil {
		if cols = p.columns(columns); cols == nil {
			return
		}
	}
	if degree > len(cols) {
		p.problem(n.Line, "marginals of degree %d need more than %d columns", degree, len(cols))
		return
	}
	p.items = combinations(p.schema.Sizes(), cols, degree, MaxCells)
	if len(p.items) == 0 {
		p.problem(n.Line, "every such marginal has more than %d cells", MaxCells)
	}
}

// interval reads {column, from, to, below}.
func (p *fileParser) interval(n *yaml.Node) {
	values := p.keys(n, "column", "from", "to", "below")
	if values == nil {
		return
	}
	if values["column"] == nil || values["from"] == nil && values["to"] == nil &&
		values["below"] == nil || values["to"] != nil && values["below"] != nil {
		p.problem(n.Line, "range needs a column, and from, or to (inclusive) or below (exclusive), or "+
			"from with one of them")
		return
	}
	col, ok := p.columnOf(values["column"])
	if !ok {
		return
	}
	var name []string
	line := n.Line
	x, fine, err := p.within(func(columns func(string) (column, error)) (table.Expr, error) {
		col, err := columns(col.name())
		if err != nil {
			return nil, err
		}
		name = nil
		cond := col.condition(func(int) bool { return true })
		for _, bound := range []struct{ key, op string }{{"from", ">="}, {"to", "<="}, {"below", "<"}} {
			b := values[bound.key]
			if b == nil {
				continue
			}
			line = b.Line
			one, err := col.compare(bound.op, b.Value)
			if b.Kind != yaml.ScalarNode {
				err = fmt.Errorf("must be a value")
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", bound.key, err)
			}
			for code := range cond.Allow {
				cond.Allow[code] = cond.Allow[code] && one.Allow[code]
			}
			name = append(name, fmt.Sprintf("%s %s %s", col.name(), bound.op, b.Value))
		}
		return cond, nil
	})
	if err != nil {
		p.problem(line, "range: %v", err)
		return
	}
	p.items = []Item{{Where: x, Fine: fine, Name: strings.Join(name, " and ")}}
}

// intervals adds every interval of the column's codes, in their order, or those that begin with the
// first; not the one that holds all.
func (p *fileParser) intervals(col column, prefix bool, line int) {
	k := col.bins()
	n := k*(k+1)/2 - 1
	if prefix {
		n = k - 1
	}
	if p.allow += n * k; n > MaxItems || p.allow > maxAllow {
		p.problem(line, "column %q has %d intervals, too many to list", col.name(), n)
		return
	}
	if n == 0 {
		p.problem(line, "column %q has one bin and so no intervals", col.name())
	}
	for from := range k {
		for to := from; to < k; to++ {
			if from == 0 && to == k-1 {
				continue
			}
			name := fmt.Sprintf("%s from %s to %s", col.name(), col.codec.Label(uint16(from)),
				col.codec.Label(uint16(to)))
			if from == 0 {
				name = fmt.Sprintf("%s up to %s", col.name(), col.codec.Label(uint16(to)))
			}
			p.items = append(p.items,
				Item{Name: name, Where: col.condition(func(code int) bool {
					return from <= code && code <= to
				})})
		}
		if prefix {
			return
		}
	}
}

// column finds a column by its name.
func (p *fileParser) column(name string) (column, error) {
	i := p.schema.Index(name)
	if i < 0 {
		return column{}, fmt.Errorf("there is no column %s%s", yamlfile.Quote(name), p.schema.Hint(name))
	}
	return column{index: i, schema: p.schema, codec: p.codecs[i]}, nil
}

func (p *fileParser) columnOf(n *yaml.Node) (column, bool) {
	if n.Kind != yaml.ScalarNode {
		p.problem(n.Line, "want the name of a column")
		return column{}, false
	}
	c, err := p.column(n.Value)
	if err != nil {
		p.problem(n.Line, "%v", err)
	}
	return c, err == nil
}

// columns reads a list of different columns; nil after a problem.
func (p *fileParser) columns(n *yaml.Node) []int {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.problem(n.Line, "want a list of columns, such as [age, sex]")
		return nil
	}
	var out []int
	for _, one := range n.Content {
		c, ok := p.columnOf(one)
		if !ok {
			return nil
		}
		if slices.Contains(out, c.index) {
			p.problem(one.Line, "column %q is named twice", c.name())
			return nil
		}
		out = append(out, c.index)
	}
	return out
}
