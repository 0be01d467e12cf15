package workload

import (
	"errors"
	"fmt"
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
	version     = "1"     // of the format, the value of the key decoy_workload
	// bytes of conditions that ranges and prefix may make: one a code and item
	maxAllow = 1 << 28
)

// Load reads the workload file at path, as Parse does, for questions to a model: its conditions and
// ranges may begin and end anywhere (see [Item.Fine]).
func Load(path string, s *schema.Schema) (*Workload, error) {
	data, err := yamlfile.ReadFile(path, maxFile)
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
	if len(data) > maxFile {
		return nil, &problem{0, fmt.Sprintf("the file is longer than %d MiB", maxFile>>20)}
	}
	p, err := newReading(s, fine)
	if err != nil {
		return nil, err
	}
	items := p.file(data)
	if len(p.found) > 0 {
		return nil, errors.Join(p.found...)
	}
	return New(s, items)
}

// A problem is something wrong with a line; 0 is none.
type problem struct {
	line int
	text string
}

func (e *problem) Error() string { return "workload: " + yamlfile.At(e.line, e.text) }
func (e *problem) Unwrap() error { return ErrInvalid }

// wrong is a problem of a node.
func wrong(n *yaml.Node, format string, args ...any) error {
	return &problem{n.Line, fmt.Sprintf(format, args...)}
}

// reading reads a file or conditions about the columns of a schema.
type reading struct {
	schema *schema.Schema
	codecs []*schema.Codec
	fine   bool // conditions may cut bins
	allow  int  // bytes of conditions that ranges and prefix made
	found  []error
}

func newReading(s *schema.Schema, fine bool) (*reading, error) {
	codecs, err := s.Codecs()
	return &reading{schema: s, codecs: codecs, fine: fine}, err
}

// report keeps a problem.
func (p *reading) report(err error) {
	if len(p.found) == maxProblems {
		err = &problem{0, "and more problems"}
	}
	if len(p.found) <= maxProblems {
		p.found = append(p.found, err)
	}
}

// keys gives the values of keys and values; nil if there are none.
func (p *reading) keys(n *yaml.Node, allowed ...string) map[string]*yaml.Node {
	values := p.reader().Fields(n, "", allowed)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return values
}

func (p *reading) reader() yamlfile.Reader {
	return yamlfile.Reader{Report: func(line int, text string) {
		p.report(&problem{max(1, line), text})
	}}
}

// file reads the whole document.
func (p *reading) file(data []byte) (items []Item) {
	root := p.reader().Document(data, "a workload", "decoy_workload: 1")
	if root == nil {
		return nil
	}
	top := p.keys(root, "decoy_workload", "queries")
	node := func(key string) *yaml.Node {
		if n := top[key]; n != nil {
			return n
		}
		return root
	}
	if n := node("decoy_workload"); n.Value != version {
		p.report(wrong(n, "the key decoy_workload must be %s, the version of the format", version))
	}
	list := node("queries")
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		p.report(wrong(list, "the key queries must hold a list of queries"))
		return nil
	}
	for _, n := range list.Content {
		more, err := p.entry(n)
		items = append(items, more...)
		if err == nil && len(items) > MaxItems {
			err = wrong(n, "more than %d items", MaxItems)
		}
		if err != nil {
			p.report(err)
		}
		if len(items) > MaxItems {
			break
		}
	}
	return items
}

var kinds = []string{"marginal", "marginals", "where", "range", "ranges", "prefix"}

// entry reads one entry of the list.
func (p *reading) entry(n *yaml.Node) ([]Item, error) {
	values := p.keys(n, append([]string{"weight", "name", "columns"}, kinds...)...)
	if values == nil {
		return nil, nil
	}
	has := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return values[k] == nil })
	switch {
	case len(has) == 0:
		return nil, wrong(n, "an entry needs one of %s", strings.Join(kinds, ", "))
	case len(has) > 1:
		return nil, wrong(n, "has both %s and %s: an entry is one of %s", has[0], has[1],
			strings.Join(kinds, ", "))
	}
	weight, err := 1.0, error(nil)
	if w := values["weight"]; w != nil {
		if weight, err = yamlfile.Number(w); err != nil || !(weight > 0 && weight <= 1024) {
			return nil, wrong(w, "weight must be a number in (0, 1024]")
		}
	}
	if c := values["columns"]; c != nil && has[0] != "marginals" {
		return nil, wrong(c, "columns goes with marginals only")
	}
	items, err := p.items(has[0], values[has[0]], values["columns"])
	if err != nil {
		return nil, err
	}
	if name := values["name"]; name != nil {
		if len(items) != 1 || name.Kind != yaml.ScalarNode {
			return nil, wrong(name, "name must be a text, and the entry a single item")
		}
		items[0].Name = name.Value
	}
	for i := range items {
		items[i].Weight = weight
	}
	return items, nil
}

// items reads the value of the key that says what an entry is.
func (p *reading) items(kind string, n, columns *yaml.Node) ([]Item, error) {
	switch kind {
	case "marginal":
		cols, err := p.columns(n)
		return []Item{{Cols: cols}}, err
	case "marginals":
		return p.marginals(n, columns)
	case "where":
		if n.Kind != yaml.ScalarNode {
			return nil, wrong(n, "where must be a text such as age >= 30 and sex = F")
		}
		it, err := p.condition(n.Value)
		if err != nil {
			return nil, wrong(n, "where: %v", err)
		}
		return []Item{it}, nil
	case "range":
		return p.interval(n)
	}
	col, err := p.columnOf(n)
	if err != nil {
		return nil, err
	}
	return p.intervals(col, kind == "prefix", n)
}

func (p *reading) marginals(n, columns *yaml.Node) ([]Item, error) {
	degree, err := strconv.Atoi(n.Value)
	if i := slices.Index([]string{"all pairs", "all triples"}, n.Value); i >= 0 {
		degree, err = i+2, nil
	}
	if n.Kind != yaml.ScalarNode || err != nil || degree < 1 {
		return nil, wrong(n, "marginals must be all pairs, all triples, or a degree of at least 1")
	}
	cols := count(len(p.codecs))
	if columns != nil {
		if cols, err = p.columns(columns); err != nil {
			return nil, err
		}
	}
	if degree > len(cols) {
		return nil, wrong(n, "marginals of degree %d need more than %d columns", degree, len(cols))
	}
	items := combinations(p.schema.Sizes(), cols, degree, mostCells)
	if len(items) == 0 {
		return nil, wrong(n, "every such marginal has more than %d cells", mostCells)
	}
	return items, nil
}

// interval reads {column, from, to, below}.
func (p *reading) interval(n *yaml.Node) ([]Item, error) {
	values := p.keys(n, "column", "from", "to", "below")
	if values == nil {
		return nil, nil
	}
	from, to, below := values["from"], values["to"], values["below"]
	if values["column"] == nil || from == nil && to == nil && below == nil ||
		to != nil && below != nil {
		return nil, wrong(n, "range needs a column, and from, or to (inclusive) or below "+
			"(exclusive), or from with one of them")
	}
	known, err := p.columnOf(values["column"])
	if err != nil {
		return nil, err
	}
	var name []string
	it, err := p.within(func(columns func(string) (column, error)) (table.Expr, error) {
		col, _ := columns(known.name())
		cond := col.run(0, col.values()-1)
		name = nil
		for _, bound := range []struct{ key, op string }{{"from", ">="}, {"to", "<="}, {"below", "<"}} {
			b := values[bound.key]
			if b == nil {
				continue
			}
			one, err := col.compare(bound.op, b.Value)
			if b.Kind != yaml.ScalarNode {
				err = errors.New("must be a value")
			}
			if err != nil {
				return nil, wrong(b, "range: %s: %v", bound.key, err)
			}
			for code := range cond.Allow {
				cond.Allow[code] = cond.Allow[code] && one.Allow[code]
			}
			name = append(name, fmt.Sprintf("%s %s %s", col.name(), bound.op, b.Value))
		}
		return cond, nil
	})
	it.Name = strings.Join(name, " and ")
	return []Item{it}, err
}

// intervals are every interval of the column's codes, in their order, or those that begin with the
// first; not the one that holds all.
func (p *reading) intervals(col column, prefix bool, n *yaml.Node) (items []Item, err error) {
	k := col.values()
	most := k*(k+1)/2 - 1
	if prefix {
		most = k - 1
	}
	switch p.allow += most * k; {
	case most > MaxItems || p.allow > maxAllow:
		return nil, wrong(n, "column %q has %d intervals, too many to list", col.name(), most)
	case most == 0:
		return nil, wrong(n, "column %q has one bin and so no intervals", col.name())
	}
	for from := 0; from < k && !(prefix && from > 0); from++ {
		for to := from; to < k; to++ {
			name := "up to"
			if from > 0 {
				name = "from " + col.codec.Label(uint16(from)) + " to"
			}
			items = append(items, Item{Where: col.run(from, to),
				Name: fmt.Sprintf("%s %s %s", col.name(), name, col.codec.Label(uint16(to)))})
		}
	}
	return slices.Delete(items, k-1, k), nil // all
}

// column finds a column by its name.
func (p *reading) column(name string) (column, error) {
	i := p.schema.Index(name)
	if i < 0 {
		return column{}, fmt.Errorf("there is no column %s%s", yamlfile.Quote(name), p.schema.Hint(name))
	}
	return column{index: i, schema: p.schema, codec: p.codecs[i]}, nil
}

func (p *reading) columnOf(n *yaml.Node) (column, error) {
	if n.Kind != yaml.ScalarNode {
		return column{}, wrong(n, "want the name of a column")
	}
	c, err := p.column(n.Value)
	if err != nil {
		err = wrong(n, "%v", err)
	}
	return c, err
}

// columns reads a list of different columns.
func (p *reading) columns(n *yaml.Node) (out []int, err error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, wrong(n, "want a list of columns, such as [age, sex]")
	}
	for _, one := range n.Content {
		c, err := p.columnOf(one)
		if err == nil && slices.Contains(out, c.index) {
			err = wrong(one, "column %q is named twice", c.name())
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c.index)
	}
	return out, nil
}
