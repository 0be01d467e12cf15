package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

const (
	maxFile     = 4 << 20 // bytes
	maxProblems = 30      // reported one by one
	version     = 1       // of the format, the value of the key decoy_workload
	// bytes of conditions that prefix may make: one a code and item
	maxAllow = 1 << 28
)

// Load reads the workload file at path, as Parse does, for questions to a model: its conditions may
// begin and end anywhere (see [Item.Fine]).
func Load(path string, s *schema.Schema) (*Workload, error) {
	data, err := yamlfile.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
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
//	  - marginals: all pairs                  # or all columns, all triples
//	  - where: age >= 30 and not (sex = F or married in (yes, "no, but"))
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
	var file struct {
		Version int     `yaml:"decoy_workload"`
		Queries []entry `yaml:"queries"`
	}
	yamlfile.Reader{Report: p.report}.Read(data, "a workload", "decoy_workload: 1", &file)
	if len(p.found) == 0 && file.Version != version {
		p.report(0, fmt.Sprintf("the key decoy_workload must be %d, the version of the format", version))
	}
	if len(p.found) == 0 && len(file.Queries) == 0 {
		p.report(0, "the key queries must hold a list of queries")
	}
	var items []Item
	for i := range file.Queries {
		e := &file.Queries[i]
		more, err := p.entry(e)
		if items = append(items, more...); err == nil && len(items) > maxItems {
			p.report(e.line, fmt.Sprintf("more than %d items", maxItems))
			break
		} else if err != nil && !e.broken {
			p.report(e.line, err.Error())
		}
	}
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

func (e *problem) Error() string { return "" + yamlfile.At(e.line, e.text) }
func (e *problem) Unwrap() error { return ErrInvalid }

// reading reads a file or conditions about the columns of a schema.
type reading struct {
	schema *schema.Schema
	codecs []*schema.Codec
	fine   bool              // conditions may cut bins
	cuts   map[int][]float64 // where a condition does, by column; nil: that is an error
	finer  map[int]Fine      // of columns that it cuts, when it is read again
	allow  int               // bytes of conditions that prefix made
	found  []error
}

func newReading(s *schema.Schema, fine bool) (*reading, error) {
	codecs, err := s.Codecs()
	return &reading{schema: s, codecs: codecs, fine: fine}, err
}

// report keeps a problem.
func (p *reading) report(line int, text string) {
	if len(p.found) == maxProblems {
		line, text = 0, "and more problems"
	}
	if len(p.found) <= maxProblems {
		p.found = append(p.found, &problem{line, text})
	}
}

// entry is one of the list of queries.
type entry struct {
	Marginal  []string `yaml:"marginal"`
	Marginals string   `yaml:"marginals"`
	Where     string   `yaml:"where"`
	Prefix    string   `yaml:"prefix"`
	Weight    float64  `yaml:"weight"`
	Name      string   `yaml:"name"`
	line      int
	broken    bool // a problem of it is reported
}

// FromYAML reads an entry.
func (e *entry) FromYAML(r yamlfile.Reader, n *yaml.Node, key string) {
	type plain entry // reads itself no more
	report := r.Report
	r.Report = func(line int, text string) {
		report(line, text)
		e.broken = true
	}
	r.Unknown = func(key string, _ []string) string {
		return fmt.Sprintf("unknown key %s; there is marginal, marginals, where, prefix; weight, name",
			yamlfile.Quote(key))
	}
	e.line, e.Weight = n.Line, 1
	r.Decode(n, key, (*plain)(e))
}

// entry gives the items of an entry.
func (p *reading) entry(e *entry) (items []Item, err error) {
	said := 0
	for _, is := range []bool{len(e.Marginal) > 0, e.Marginals != "", e.Where != "", e.Prefix != ""} {
		if is {
			said++
		}
	}
	switch {
	case said != 1:
		return nil, errors.New("an entry is one of marginal, marginals, where and prefix")
	case !(e.Weight > 0 && e.Weight <= maxWeight):
		return nil, fmt.Errorf("weight must be a number in (0, %d]", maxWeight)
	case e.Marginal != nil:
		items = []Item{{}}
		items[0].Cols, err = p.indices(e.Marginal)
	case e.Marginals != "":
		items, err = p.marginals(e.Marginals)
	case e.Where != "":
		items = []Item{{}}
		if items[0], err = p.condition(e.Where); err != nil {
			err = fmt.Errorf("where: %w", err)
		}
	default:
		items, err = p.prefixes(e.Prefix)
	}
	if err == nil && e.Name != "" && len(items) != 1 {
		err = errors.New("name goes with a single item only")
	}
	for i := range items {
		items[i].Weight = e.Weight
		items[i].Name = cmp.Or(e.Name, items[i].Name)
	}
	return items, err
}

func (p *reading) marginals(which string) ([]Item, error) {
	degree := slices.Index([]string{"all columns", "all pairs", "all triples"}, which) + 1
	if degree == 0 {
		return nil, errors.New("marginals must be all columns, all pairs or all triples")
	}
	if degree > len(p.codecs) {
		return nil, fmt.Errorf("%s need more than %d columns", which, len(p.codecs))
	}
	items := Marginals(p.schema, degree, mostCells)
	if len(items) == 0 {
		return nil, fmt.Errorf("every such marginal has more than %d cells", mostCells)
	}
	return items, nil
}

// prefixes are the intervals of the column's codes, in their order, that begin with the first; not
// the one that holds all.
func (p *reading) prefixes(name string) (items []Item, err error) {
	col, err := p.column(name)
	if err != nil {
		return nil, err
	}
	k := col.codec.Values()
	switch p.allow += k * k; {
	case p.allow > maxAllow:
		return nil, fmt.Errorf("column %q has %d bins, too many to list", name, k)
	case k == 1:
		return nil, fmt.Errorf("column %q has one bin and so no intervals", name)
	}
	for to := range k - 1 {
		items = append(items, Item{Where: col.run(0, to),
			Name: name + " up to " + col.codec.Label(uint16(to))})
	}
	return items, nil
}

// indices are the positions of different columns.
func (p *reading) indices(names []string) (out []int, err error) {
	for _, name := range names {
		c, err := p.column(name)
		if err == nil && slices.Contains(out, c.index) {
			err = fmt.Errorf("column %q is named twice", name)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c.index)
	}
	return out, nil
}
