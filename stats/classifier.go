package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Classifier is a trained logistic regression: all of it may be given away. The one-hot row x of a
// table is, feature after feature, a 1 at the code of the cell and 0 elsewhere. With two classes
// there is one vector w of coefficients, and the probability of the second is 1/(1 + exp(−w·x −
// b)); with more there is one a class, and the probabilities are softmax(w_c·x + b_c).
type Classifier struct {
	Format       int           `json:"decoy_classifier"`
	Tool         string        `json:"tool,omitempty"`
	By           string        `json:"by"`
	Claim        release.Claim `json:"claim"`
	Rows         float64       `json:"rows,omitempty"` // noisy number of rows, or the public one; 0: none
	Target       string        `json:"target"`
	Classes      []string      `json:"classes"`
	Features     []feature     `json:"features"`
	Coefficients [][]float64   `json:"coefficients"`
	Intercept    []float64     `json:"intercept"`
	SchemaYAML   string        `json:"schema"` // the public schema
	SchemaSHA256 string        `json:"schema_sha256"`
	release.Proof
}

// feature is how a column becomes one-hot cells.
type feature struct {
	Column string   `json:"column"`
	Values []string `json:"values"` // one a cell: a category, a bin, or "(missing)", which is the last
	// of a column of numbers the least value of each bin (dates in days, timestamps in microseconds
	// since 1970); lower values are in the first bin
	From    []float64 `json:"from,omitempty"`
	Missing []string  `json:"missing,omitempty"` // texts that mean missing
}

// complete fills in how the coefficients of a classifier were made, and verifies it.
func (t *task) complete(c *Classifier, s *privacy.Session, target, tool string) error {
	yaml, err := t.schema.YAML()
	if err != nil {
		return err
	}
	c.Format, c.Tool, c.Target, c.Classes = format, tool, target, t.classes
	c.Claim = release.PaidIn(s).Claim()
	c.SchemaYAML, c.SchemaSHA256 = string(yaml), t.schema.Fingerprint()
	c.Features = t.features()
	return release.Seal(s, c)
}

// States are the claim and the program that the file names.
func (c *Classifier) States() (release.Claim, string) { return c.Claim, c.Tool }

func (t *task) features() []feature {
	var out []feature
	for _, i := range t.problem.Columns {
		codec := t.codecs[i]
		f := feature{Column: t.schema.Columns[i].Name, Missing: codec.Column().Missing}
		for code := range uint16(codec.Size()) {
			f.Values = append(f.Values, codec.Label(code))
			if codec.Column().Kind.Ordered() && int(code) < codec.Values() {
				lo, _ := codec.Bin(code)
				f.From = append(f.From, lo)
			}
		}
		out = append(out, f)
	}
	return out
}

// Check returns an error unless the features and the coefficients are those of the schema, and the
// schema and its unit those of the run.
func (c *Classifier) Check(run ledger.VerifiedRun) error {
	s, err := c.checked()
	if err != nil {
		return err
	}
	r := run.Reserve
	switch {
	case s.Unit != r.Unit || s.Unit != "" && max(1, s.MaxRowsPerUnit) != r.MaxRowsPerUnit:
		return errors.New("the schema's privacy unit is not the ledger's")
	case c.SchemaSHA256 != s.Fingerprint() || r.SchemaSHA256 != s.Fingerprint():
		return errors.New("the schema's fingerprint differs")
	case run.Method != trained:
		return fmt.Errorf("the ledger is of method %q", run.Method)
	}
	return nil
}

// checked is the schema, if features and coefficients are those of it.
func (c *Classifier) checked() (*schema.Schema, error) {
	s, err := schema.Parse([]byte(c.SchemaYAML))
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	var drop []string
	for _, column := range s.Columns {
		used := slices.ContainsFunc(c.Features, func(f feature) bool { return f.Column == column.Name })
		if !used && column.Name != c.Target {
			drop = append(drop, column.Name)
		}
	}
	t, err := newTask(s, c.Target, drop)
	if err != nil {
		return nil, err
	}
	same := func(a, b feature) bool {
		return a.Column == b.Column && slices.Equal(a.Values, b.Values) &&
			slices.Equal(a.From, b.From) && slices.Equal(a.Missing, b.Missing)
	}
	if !slices.EqualFunc(c.Features, t.features(), same) || !slices.Equal(c.Classes, t.classes) {
		return nil, errors.New("features or classes are not those of the schema")
	}
	cells, outputs := t.problem.Cells(s.Sizes()), t.problem.Outputs()
	if len(c.Coefficients) != outputs || len(c.Intercept) != outputs {
		return nil, fmt.Errorf("coefficients of %d outputs, want %d", len(c.Coefficients), outputs)
	}
	for o, w := range c.Coefficients {
		if len(w) != cells {
			return nil, fmt.Errorf("output %d has %d coefficients, want %d", o, len(w), cells)
		}
		for _, x := range append(w[:len(w):len(w)], c.Intercept[o]) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, errors.New("a coefficient is not finite")
			}
		}
	}
	return s, nil
}

// Schema is what a table to predict must have: the columns of the features, and those that they
// come after; of a file without a header, all.
func (c *Classifier) Schema() (*schema.Schema, error) {
	s, err := c.checked()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", release.ErrFormat, err)
	}
	var names []string
	for _, f := range c.Features {
		names = append(names, f.Column)
	}
	return columnsOnly(s, names)
}

// columnsOnly makes a schema that of public rows with some columns, and those that they come after;
// of a file without a header, all.
func columnsOnly(s *schema.Schema, names []string) (*schema.Schema, error) {
	s.Rules, s.Made = nil, nil
	if s.CSV.NoHeader { // columns go by position
		return s, s.Validate()
	}
	needed := map[string]bool{}
	for _, name := range names {
		for ; name != "" && !needed[name]; name = s.Columns[s.Index(name)].After {
			needed[name] = true
		}
	}
	s.Unit, s.MaxRowsPerUnit = "", 0
	s.Columns = slices.DeleteFunc(s.Columns, func(x schema.Column) bool { return !needed[x.Name] })
	return s, s.Validate()
}

// Probabilities returns, of each row of a table of [Classifier.Schema], or of any other that has
// the columns of the features with the same codes, the probability of each class. It returns an
// error for another table.
func (c *Classifier) Probabilities(t *table.Table) ([][]float64, error) {
	scores := make([][]float64, len(c.Coefficients))
	for o := range scores {
		scores[o] = make([]float64, t.Rows())
		for i := range scores[o] {
			scores[o][i] = c.Intercept[o]
		}
	}
	at := 0
	for _, f := range c.Features {
		k := t.Schema().Index(f.Column)
		if k < 0 || t.Schema().Sizes()[k] != len(f.Values) {
			return nil, fmt.Errorf("the table has no column %q of %d codes", f.Column, len(f.Values))
		}
		codes := t.Column(k)
		for o, w := range c.Coefficients {
			for i := range scores[o] {
				scores[o][i] += w[at+int(codes.At(i))]
			}
		}
		at += len(f.Values)
	}
	out := make([][]float64, t.Rows())
	for i := range out {
		row := make([]float64, len(c.Classes)) // of two classes, the score of the first is 0
		for o := range scores {
			row[len(row)-len(scores)+o] = scores[o][i]
		}
		toShares(row)
		out[i] = row
	}
	return out, nil
}

// toShares turns scores into probabilities.
func toShares(row []float64) {
	top, sum := slices.Max(row), 0.0
	for k, x := range row {
		row[k] = math.Exp(x - top)
		sum += row[k]
	}
	for k := range row {
		row[k] /= sum
	}
}
