package configs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// DefaultDelta is δ where none is asked for.
const DefaultDelta = 1e-9

// maxEpsilon is the largest ε of a run. Beyond it the promise is empty, and somewhere beyond it the
// noise is smaller than the samplers draw: the run would fail after its budget is spent.
const maxEpsilon = 10000

// minEpsilon is the smallest ε of a run. The counts of one of less have noise of more than ten
// thousand rows, which is an answer for nobody; at 1e-8 a run failed after its budget was spent.
const minEpsilon = 1e-4

// Job is one run, from a private table to a synthetic one. The flags of decoy generate fill it, and
// so does a config file, whose keys are these; a batch is many of them. Paths are relative to the
// current folder.
type Job struct {
	// in a batch: unique; default from table, method, epsilon and replicate
	Name string `yaml:"name" json:"name,omitempty"`
	Source
	// part of the noise budget that buys the schema of a table without one; default a third
	SchemaShare float64 `yaml:"schema_share" json:"schema_share,omitempty"`
	// synthesis method; default auto
	Method string `yaml:"method" json:"method,omitempty"`
	// of the method
	Settings Settings `yaml:"settings" json:"settings,omitempty"`
	// budget; required, > 0
	Epsilon float64 `yaml:"epsilon" json:"epsilon,omitempty"`
	// default 1e-9
	Delta float64 `yaml:"delta" json:"delta,omitempty"`
	// add-remove (default) or replace-one
	Adjacency string `yaml:"adjacency" json:"adjacency,omitempty"`
	// default INPUT.ledger
	Ledger string `yaml:"ledger" json:"ledger,omitempty"`
	// synthetic rows; default the noisy row count
	Rows int `yaml:"rows" json:"rows,omitempty"`
	// public seed of the sampling; 0: [SeedOf] the model
	Seed uint64 `yaml:"seed" json:"seed,omitempty"`
	// synthetic table, .csv or .parquet; or, of linked tables, the folder of theirs
	Out    string `yaml:"out" json:"out,omitempty"`
	OutDir string `yaml:"out-dir" json:"-"`
	// also keep the model here
	Model string `yaml:"model" json:"model,omitempty"`
	// in a CSV output, an apostrophe before texts that a spreadsheet would run as formulas
	SpreadsheetSafe bool `yaml:"spreadsheet-safe" json:"spreadsheet_safe,omitempty"`
	// compare with real rows afterwards: not private
	Evaluate *evaluation `yaml:"evaluate" json:"evaluate,omitempty"`

	said map[string]int // the lines of the keys that a batch file has: their values may be zero
}

// Source is a table, and what is publicly known of it.
type Source struct {
	// private table, .csv or .parquet; or dataset
	Input string `yaml:"input" json:"input,omitempty"`
	// of linked tables: all files, in place of input, which may be the folder that has them
	Inputs []string `yaml:"inputs" json:"inputs,omitempty"`
	// embedded example, with its own schema
	Dataset string `yaml:"dataset" json:"dataset,omitempty"`
	// schema file
	Schema string `yaml:"schema" json:"schema,omitempty"`
	// of a table without a schema, which its run buys: the names of the columns, which become part of
	// it, may be shown to anyone
	HeaderIsPublic bool `yaml:"header_is_public" json:"header_is_public,omitempty"`
	// of such a table, if it is text: its encoding (default UTF-8), the line of the header, from 1
	// (default: the first that is neither blank nor a comment), and the sheet of a spreadsheet
	// (default the first)
	Encoding   string `yaml:"encoding" json:"encoding,omitempty"`
	HeaderLine int    `yaml:"header_line" json:"header_line,omitempty"`
	Sheet      string `yaml:"sheet" json:"sheet,omitempty"`
	// its column of ids, and how many rows of one id are used
	Unit           string `yaml:"unit" json:"unit,omitempty"`
	MaxRowsPerUnit int    `yaml:"max_rows_per_unit" json:"max_rows_per_unit,omitempty"`
	// of linked tables without a schema: CHILD.KEY=PARENT.ID and CHILD.COLUMN, or, of one table of
	// rows of Unit, COLUMN
	Links  []string `yaml:"link" json:"links,omitempty"`
	Orders []string `yaml:"order" json:"orders,omitempty"`
}

// A ValueError is a key of a job whose value cannot be.
type ValueError struct{ Key, Problem string }

func (e *ValueError) Error() string { return invalid("%s %s", e.Key, e.Problem).Error() }
func (e *ValueError) Unwrap() error { return synth.ErrConfig }

// WithDefaults is the job with the values that a batch file may leave out.
func (j Job) WithDefaults() Job {
	if len(j.Inputs) > 0 {
		j.Input = cmp.Or(j.Input, j.Inputs[0])
	}
	j.Method = cmp.Or(j.Method, synth.Auto)
	j.Adjacency = cmp.Or(j.Adjacency, accountant.AddRemove.String())
	if j.said["delta"] == 0 {
		j.Delta = cmp.Or(j.Delta, DefaultDelta)
	}
	return j
}

// CheckBudget checks what the job may spend, and under which relation. Its errors are ValueErrors.
func (j Job) CheckBudget() error {
	var a accountant.Adjacency
	switch {
	case j.Epsilon > 0 && j.Epsilon < minEpsilon:
		return &ValueError{"epsilon", fmt.Sprintf("%v is below %v: all of its answers would be noise of "+
			"ten thousand rows and more", j.Epsilon, minEpsilon)}
	case !(j.Epsilon > 0 && j.Epsilon <= maxEpsilon):
		return &ValueError{"epsilon",
			fmt.Sprintf("%v must be above 0 and at most %d", j.Epsilon, maxEpsilon)}
	case j.Budget().Validate() != nil:
		return &ValueError{"delta", fmt.Sprintf("%v must be from 0 to %v", j.Delta, accountant.MaxDelta)}
	case a.UnmarshalText([]byte(j.Adjacency)) != nil:
		return &ValueError{"adjacency", fmt.Sprintf("%q must be add-remove or replace-one", j.Adjacency)}
	}
	return nil
}

// bare reports whether the run buys the schema of the job's table.
func (j Job) bare() bool { return j.Input != "" && j.Schema == "" }

// checkAlone checks a job of a batch, as far as its own text goes. Its defaults are filled in.
func (j Job) checkAlone() error {
	switch {
	case (j.Input == "") == (j.Dataset == ""):
		return &ValueError{"input", "or dataset is required, and only one of them"}
	case len(j.Inputs) > 0 && j.Input != j.Inputs[0]:
		return &ValueError{"inputs", "are files, in place of input"}
	case IsStandard(j.Input), IsStandard(j.Out):
		return &ValueError{"input", "and out must be files, not standard input and output"}
	case j.bare() && !j.HeaderIsPublic:
		return &ValueError{"schema", "is required; or header_is_public: true, with which the run buys " +
			"one for a part of its budget"}
	case j.SchemaShare < 0 || !(j.SchemaShare < 1):
		return &ValueError{"schema_share", fmt.Sprintf("%v must be above 0 and below 1", j.SchemaShare)}
	case j.SchemaShare > 0 &&
		j.Epsilon*math.Sqrt(min(j.SchemaShare, 1-j.SchemaShare)) < minEpsilon: // shares are of ε²
		return &ValueError{"schema_share", fmt.Sprintf("%v leaves the schema, or the table, less than "+
			"epsilon %v, whose answers would be noise alone", j.SchemaShare, minEpsilon)}
	case j.Dataset != "" && j.Schema != "":
		return &ValueError{"schema", "is not for a dataset, which has its own"}
	case (j.Out == "") == (j.OutDir == ""):
		return &ValueError{"out", "is required, or, for linked tables, out-dir, and only one of them"}
	case uint64(j.Rows) > math.MaxInt32:
		return &ValueError{"rows", fmt.Sprintf("%d must be from 0 to %d", j.Rows, math.MaxInt32)}
	case j.Evaluate != nil && j.Input == "":
		return &ValueError{"evaluate", "needs an input"}
	}
	if _, err := json.Marshal(j.Settings); err != nil {
		return &ValueError{"settings", "must be finite numbers, texts, true or false, and lists of them"}
	}
	return cmp.Or(j.checkBare(), j.CheckBudget())
}

// checkBare refuses what is said of a table without a schema where there is one: a unit that is
// passed over would leave a guarantee for single rows.
func (j Job) checkBare() error {
	said := map[string]bool{"header_is_public": j.HeaderIsPublic, "unit": j.Unit != "",
		"max_rows_per_unit": j.MaxRowsPerUnit != 0, "schema_share": j.SchemaShare != 0,
		"encoding": j.Encoding != "", "header_line": j.HeaderLine != 0,
		"sheet": j.Sheet != "",
		"link":  len(j.Links) > 0, "order": len(j.Orders) > 0}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if said[key] && !j.bare() {
			return &ValueError{key, "is for a table without a schema: this one has one; write it there"}
		}
	}
	return nil
}

// Budget is what the job may spend.
func (j Job) Budget() accountant.Budget {
	return accountant.Budget{Epsilon: j.Epsilon, Delta: j.Delta}
}

// Relation is the job's adjacency; the job is checked.
func (j Job) Relation() (a accountant.Adjacency) {
	if err := a.UnmarshalText([]byte(j.Adjacency)); err != nil {
		panic("configs: the job is not checked")
	}
	return a
}

// Chosen is what chose the job's method, "" for the person who named it.
func (j Job) Chosen() string {
	if j.Method == synth.Auto {
		return synth.Why
	}
	return ""
}

// Fitter is the job's method with its settings.
func (j Job) Fitter() (synth.Fitter, error) {
	return synth.New(j.Method, Decoder(synth.Named(j.Method), j.Settings))
}

// spends is everything of a job that decides what is measured in which table under which account.
// Where and how often the model is sampled is not part of it, so that a job whose output moves is
// not paid twice. Files are named as seen from a folder, so that it does not matter how a path to
// them is written, nor where a folder that holds them all is moved to. The job is checked.
func (j Job) spends(from string) []byte {
	j.Rows, j.Seed, j.Out, j.Model, j.Evaluate, j.SpreadsheetSafe = 0, 0, "", "", nil, false
	if beside := Resolve(j.Input) + ".ledger"; j.Ledger != "" && SameFile(j.Ledger, beside) {
		j.Ledger = ""
	}
	j.Inputs = slices.Clone(j.Inputs)
	paths := []*string{&j.Input, &j.Ledger}
	for i := range j.Inputs {
		paths = append(paths, &j.Inputs[i])
	}
	for _, path := range paths {
		if *path != "" && !engine.Elsewhere(*path) && !IsStandard(*path) {
			*path = seenFrom(from, *path)
		}
	}
	text, err := json.Marshal(j)
	if err != nil {
		panic("configs: the job is not checked")
	}
	return text
}

// identity names what a job of a batch spends: 64 hexadecimal digits. schemaSHA256 is the
// fingerprint of the schema's text.
func (j Job) identity(batch, schemaSHA256, from string) string {
	j.Schema = schemaSHA256
	sum := sha256.Sum256(append([]byte(batch+"\n"), j.spends(from)...))
	return hex.EncodeToString(sum[:])
}

// runName names the run of a job in a ledger: it is the same on every machine, and a ledger takes a
// name once.
func runName(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:8])
}
