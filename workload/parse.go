package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/schema"
)

const (
	maxFile     = 4 << 20 // bytes
	maxProblems = 30      // reported one by one
	version     = 1       // of the format, the value of the key decoy_workload
	// bytes of conditions that ranges and prefix may make: one a code and item
	maxAllow = 1 << 28
)

// Load reads the workload file at path, as Parse does, for questions to a model: its conditions may
// begin and end anywhere (see [Item.Fine]).
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
		if items = append(items, more...); err == nil && len(items) > MaxItems {
			p.report(e.line, fmt.Sprintf("more than %d items", MaxItems))
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

func (e *problem) Error() string { return "workload: " + yamlfile.At(e.line, e.text) }
func (e *problem) Unwrap() error { return ErrInvalid }

// reading reads a file or conditions about the columns of a schema.
type reading struct {
	schema *schema.Schema
	codecs []*schema.Codec
	fine   bool              // conditions may cut bins
	cuts   map[int][]float64 // where a condition does, by column; nil: that is an error
	finer  map[int]Fine      // of columns that it cuts, when it is read again
	allow  int               // bytes of conditions that ranges and prefix made
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
	Ranges    string   `yaml:"ranges"`
	Prefix    string   `yaml:"prefix"`
	Columns   []string `yaml:"columns"` // of Marginals
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
		if key == "range" {
			return "range is gone: write where: age >= 30 and age < 50"
		}
		return fmt.Sprintf("unknown key %s; there is marginal, marginals with columns, where, ranges, "+
			"prefix; weight, name", yamlfile.Quote(key))
	}
	e.line, e.Weight = n.Line, 1
	r.Decode(n, key, (*plain)(e))
}

// entry gives the items of an entry.
func (p *reading) entry(e *entry) (items []Item, err error) {
	said := 0
	for _, is := range []bool{e.Marginal != nil, e.Marginals != "", e.Where != "", e.Ranges != "",
		e.Prefix != ""} {
		if is {
			said++
		}
	}
	switch {
	case said != 1:
		return nil, errors.New("an entry is one of marginal, marginals, where, ranges and prefix")
	case !(e.Weight > 0 && e.Weight <= maxWeight):
		return nil, fmt.Errorf("weight must be a number in (0, %d]", maxWeight)
	case e.Columns != nil && e.Marginals == "":
		return nil, errors.New("columns goes with marginals only")
	case e.Marginal != nil:
		items = []Item{{}}
		items[0].Cols, err = p.indices(e.Marginal)
	case e.Marginals != "":
		items, err = p.marginals(e)
	case e.Where != "":
		items = []Item{{}}
		if items[0], err = p.condition(e.Where); err != nil {
			err = fmt.Errorf("where: %w", err)
		}
	default:
		items, err = p.intervals(cmp.Or(e.Ranges, e.Prefix), e.Prefix != "")
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

func (p *reading) marginals(e *entry) ([]Item, error) {
	degree, err := strconv.Atoi(e.Marginals)
	if i := slices.Index([]string{"all pairs", "all triples"}, e.Marginals); i >= 0 {
		degree, err = i+2, nil
	}
	if err != nil || degree < 1 {
		return nil, errors.New("marginals must be all pairs, all triples, or a degree of at least 1")
	}
	cols := count(len(p.codecs))
	if e.Columns != nil {
		if cols, err = p.indices(e.Columns); err != nil {
			return nil, err
		}
	}
	if degree > len(cols) {
		return nil, fmt.Errorf("marginals of degree %d need more than %d columns", degree, len(cols))
	}
	items := combinations(p.schema.Sizes(), cols, degree, mostCells)
	if len(items) == 0 {
		err = fmt.Errorf("every such marginal has more than %d cells", mostCells)
	}
	return items, err
}

// intervals are every interval of the column's codes, in their order, or those that begin with the
// first; not the one that holds all.
func (p *reading) intervals(name string, prefix bool) (items []Item, err error) {
	col, err := p.column(name)
	if err != nil {
		return nil, err
	}
	k := col.values()
	most, starts := k*(k+1)/2-1, k
	if prefix {
		most, starts = k-1, 1
	}
	switch p.allow += most * k; {
	case most > MaxItems || p.allow > maxAllow:
		return nil, fmt.Errorf("column %q has %d intervals, too many to list", name, most)
	case most == 0:
		return nil, fmt.Errorf("column %q has one bin and so no intervals", name)
	}
	for from := range starts {
		for to := from; to < k; to++ {
			text := name + " up to "
			if from > 0 {
				text = fmt.Sprintf("%s from %s to ", name, col.codec.Label(uint16(from)))
			}
			items = append(items, Item{Where: col.run(from, to),
				Name: text + col.codec.Label(uint16(to))})
		}
	}
	return slices.Delete(items, k-1, k), nil // all
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
