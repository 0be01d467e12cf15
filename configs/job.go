package configs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
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
	// private table, .csv or .parquet; or dataset
	Input string `yaml:"input" json:"input,omitempty"`
	// embedded example, with its own schema
	Dataset string `yaml:"dataset" json:"dataset,omitempty"`
	// schema file; required with input
	Schema string `yaml:"schema" json:"schema,omitempty"`
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
	// public seed of the sampling; in a batch 0 means one from the job's identity
	Seed uint64 `yaml:"seed" json:"seed,omitempty"`
	// synthetic table, .csv or .parquet; required
	Out string `yaml:"out" json:"out,omitempty"`
	// also keep the model here
	Model string `yaml:"model" json:"model,omitempty"`
	// in a CSV output, an apostrophe before texts that a spreadsheet would run as formulas
	SpreadsheetSafe bool `yaml:"spreadsheet-safe" json:"spreadsheet_safe,omitempty"`
	// compare with real rows afterwards: not private
	Evaluate *evaluation `yaml:"evaluate" json:"evaluate,omitempty"`

	said map[string]int // the lines of the keys that a batch file has: their values may be zero
}

// evaluation asks for metrics that compare the synthetic table with real rows. They are computed
// without any protection.
type evaluation struct {
	// real rows that were not fitted; required
	Holdout string `yaml:"holdout" json:"holdout,omitempty"`
	// further flags of decoy evaluate, of evaluateFlags
	Args []string `yaml:"args" json:"args,omitempty"`
}

// evaluateFlags say what decoy evaluate compares. The others say which files it reads and writes,
// and what it spends: these are the job's.
var evaluateFlags = []string{"--target", "--positive", "--drop", "--quasi"}

// checkArgs refuses flags that are not a job's to give.
func (e *evaluation) checkArgs() error {
	value := false // of the flag before
	for _, arg := range e.Args {
		name, _, given := strings.Cut(arg, "=")
		switch {
		case value:
			value = false
		case slices.Contains(evaluateFlags, name):
			value = !given
		default:
			return &ValueError{"evaluate.args", fmt.Sprintf("%q must be one of %s, or its value", arg,
				strings.Join(evaluateFlags, ", "))}
		}
	}
	return nil
}

// A ValueError is a key of a job whose value cannot be.
type ValueError struct{ Key, Problem string }

func (e *ValueError) Error() string { return fmt.Sprintf("%s %s: %v", e.Key, e.Problem, ErrConfig) }
func (e *ValueError) Unwrap() error { return ErrConfig }

// WithDefaults is the job with the values that a batch file may leave out.
func (j Job) WithDefaults() Job {
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

// Weakness is what is to be said of an ε above 10; "" for others.
func Weakness(epsilon float64) string {
	if epsilon <= 10 {
		return ""
	}
	return fmt.Sprintf("epsilon %v is above 10: such a guarantee is weak; what anyone believes of a "+
		"person may change by a factor of e^%v", epsilon, epsilon)
}

// checkAlone checks a job of a batch, as far as its own text goes. Its defaults are filled in.
func (j Job) checkAlone() error {
	missing := func(key string) error { return &ValueError{key, "is required"} }
	switch {
	case (j.Input == "") == (j.Dataset == ""):
		return &ValueError{"input", "or dataset is required, and only one of them"}
	case j.Input == "-" || j.Out == "-":
		return &ValueError{"input", "and out must be files, not standard input and output"}
	case j.Input != "" && j.Schema == "":
		return missing("schema")
	case j.Dataset != "" && j.Schema != "":
		return &ValueError{"schema", "is not for a dataset, which has its own"}
	case j.Out == "":
		return missing("out")
	case j.Rows < 0 || j.Rows > math.MaxInt32:
		return &ValueError{"rows", fmt.Sprintf("%d must be from 0 to %d", j.Rows, math.MaxInt32)}
	case j.Evaluate != nil && (j.Evaluate.Holdout == "" || j.Input == ""):
		return &ValueError{"evaluate", "needs an input and a holdout"}
	}
	if j.Evaluate != nil {
		if err := j.Evaluate.checkArgs(); err != nil {
			return err
		}
	}
	if _, err := json.Marshal(j.Settings); err != nil {
		return &ValueError{"settings", "must be finite numbers, texts, true or false, and lists of them"}
	}
	return j.CheckBudget()
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

// identity names what the job spends: 64 hexadecimal digits of everything that decides what is
// measured in which table under which account. Where and how often the model is sampled is not part
// of it, so that a job whose output moves is not paid twice. schemaSHA256 is the fingerprint of the
// schema's text. The job is checked.
func (j Job) identity(batch, schemaSHA256 string) string {
	j.Rows, j.Seed, j.Out, j.Model, j.Evaluate, j.SpreadsheetSafe = 0, 0, "", "", nil, false
	j.Schema = schemaSHA256
	text, err := json.Marshal(struct {
		Batch string
		Job   Job
	}{batch, j})
	if err != nil {
		panic("configs: the job is not checked")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// runName names the run of a job in a ledger: it is the same on every machine, and a ledger takes a
// name once.
func runName(identity string) string {
	sum := sha256.Sum256([]byte(identity + " attempt 1")) // earlier versions had more
	return hex.EncodeToString(sum[:8])
}
