package configs

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/ledger"
)

// Batch is many jobs: the matrix tables × methods × epsilons × replicates, and single ones.
type Batch struct {
	// part of every job's identity: another name is another release; required
	Name     string    `yaml:"name"`
	Tables   []Table   `yaml:"tables"`   // of the matrix
	Methods  []Method  `yaml:"methods"`  // default: auto
	Epsilons []float64 `yaml:"epsilons"` // required with tables
	// default 1; all jobs together are at most maxJobs
	Replicates int `yaml:"replicates"`
	// what all jobs have in common; in out, model and evaluate.holdout {table}, {method}, {epsilon},
	// {replicate}, {batch} are replaced
	Job      Job   `yaml:"job"`
	Jobs     []Job `yaml:"jobs"`     // single jobs
	Parallel int   `yaml:"parallel"` // jobs at a time; default the number of cores
	// limit of the forecasts of the jobs that run together, as 500MB or 4GB; default none
	Memory string `yaml:"memory"`
	// of a job whose budget is spent and whose run cannot be continued: stop (default) or rerun
	OnInterrupted string `yaml:"on_interrupted"`
	// table of results, .csv; an .html beside it; default the batch file with .results.csv
	Results string `yaml:"results"`
}

// The bounds of a batch, enforced before its jobs take memory.
const (
	maxJobs  = 10_000  // the matrix and the single ones
	MaxBatch = 4 << 20 // bytes of the file
	maxItems = 200_000 // values in the file, counted as its commas and lines
	// wrong lines that an error names
	maxProblems = 30
)

// Table is one private table of a batch.
type Table struct {
	Name    string `yaml:"name"`    // required: {table}
	Input   string `yaml:"input"`   // or Dataset
	Dataset string `yaml:"dataset"` // embedded example
	Schema  string `yaml:"schema"`  // schema file; required with Input
	Ledger  string `yaml:"ledger"`  // default INPUT.ledger
	Limit   *Limit `yaml:"limit"`   // of the ledger, set where it has none yet
	Holdout string `yaml:"holdout"` // real rows that were not fitted, for evaluate
}

// Limit is the limit of a ledger.
type Limit struct {
	Epsilon float64 `yaml:"epsilon"`
	Delta   float64 `yaml:"delta"`
	Rule    string  `yaml:"rule"` // basic (default) or zcdp
}

// Method is one method of the matrix: a name, or a map.
type Method struct {
	Name     string   `yaml:"name"` // {method}; default the method's name
	Method   string   `yaml:"method"`
	Settings Settings `yaml:"settings"`
}

// ParseBatch reads the text of a batch file, strictly; path names it in errors. All problems are
// reported together, with their lines.
func ParseBatch(path string, text []byte) (*Batch, error) {
	if len(text) > MaxBatch {
		return nil, fmt.Errorf("%s: a batch file is at most %d MiB: %w", path, MaxBatch>>20, ErrConfig)
	}
	if n := bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("\n")); n > maxItems {
		return nil, fmt.Errorf("%s has %d commas and lines, of which at most %d are allowed: %w", path, n,
			maxItems, ErrConfig)
	}
	var problems []string
	r := yamlfile.Reader{Unknown: unknownKey, Report: func(line int, text string) {
		problems = append(problems, path+", "+yamlfile.At(line, text))
	}}
	var b Batch
	r.Read(text, "a batch file", "name: autumn", &b)
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more problems", more))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(problems, "\n"), ErrConfig)
	}
	b.nameSettings(path)
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &b, nil
}

// nameSettings puts the name of the file before the lines of the settings.
func (b *Batch) nameSettings(path string) {
	name := func(list Settings) {
		for i := range list {
			list[i].From = path + ", " + list[i].From
		}
	}
	name(b.Job.Settings)
	for _, m := range b.Methods {
		name(m.Settings)
	}
	for _, j := range b.Jobs {
		name(j.Settings)
	}
}

var _, _, _ yamlfile.Special = (*Job)(nil), (*Method)(nil), (*Settings)(nil)

// FromYAML lets a method be its name alone.
func (m *Method) FromYAML(r yamlfile.Reader, n *yaml.Node, key string) {
	if n.Kind == yaml.ScalarNode {
		r.Decode(n, key, &m.Method)
		return
	}
	type fields Method
	r.Decode(n, key, (*fields)(m))
}

// FromYAML notes which keys the file has.
func (j *Job) FromYAML(r yamlfile.Reader, n *yaml.Node, key string) {
	type fields Job
	r.Decode(n, key, (*fields)(j))
	j.said = map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		j.said[n.Content[i].Value] = n.Content[i].Line
	}
}

// unknownKey says what took the place of a deleted key, or is near an unknown one.
func unknownKey(key string, known []string) string {
	return fmt.Sprintf("unknown key %q%s", key, hint("mst", key, known)) // its preset was a key, too
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (b *Batch) check() error {
	wrong := ""
	switch {
	case !nameForm.MatchString(b.Name):
		wrong = fmt.Sprintf("name %q must be letters, digits, '.', '_', '-'; another name makes "+
			"another release of the same tables", b.Name)
	case len(b.Tables) == 0 && len(b.Jobs) == 0:
		wrong = "there are no tables and no jobs"
	case len(b.Tables) == 0 && b.gridKey() != "":
		wrong = b.gridKey() + " goes with tables, of which there are none: the jobs under jobs: say " +
			"their own"
	case len(b.Tables) > 0 && len(b.Epsilons) == 0:
		wrong = "epsilons is required"
	case b.Replicates < 0:
		wrong = fmt.Sprintf("replicates %d must not be negative", b.Replicates)
	case b.size() > maxJobs:
		wrong = fmt.Sprintf("%.4g jobs, tables × methods × epsilons × replicates and single ones: %d "+
			"are the most of one file", b.size(), maxJobs)
	case b.Parallel < 0:
		wrong = fmt.Sprintf("parallel %d must not be negative", b.Parallel)
	case !slices.Contains([]string{"", "stop", "rerun"}, b.OnInterrupted):
		wrong = fmt.Sprintf("on_interrupted %q must be stop or rerun", b.OnInterrupted)
	}
	if _, err := ParseBytes(b.Memory); err != nil && wrong == "" {
		return err
	}
	for _, t := range b.Tables {
		if wrong == "" {
			wrong = t.unused(b.Job)
		}
		if l := t.Limit; l != nil && wrong == "" {
			rule := ledger.Rule(cmp.Or(l.Rule, string(ledger.RuleBasic)))
			switch {
			case (accountant.Budget{Epsilon: l.Epsilon, Delta: l.Delta}).Validate() != nil ||
				rule != ledger.RuleBasic && rule != ledger.RuleZCDP:
				wrong = fmt.Sprintf("table %s: a limit has epsilon > 0, delta from 0 to %v, rule basic "+
					"or zcdp", t.Name, accountant.MaxDelta)
			case rule == ledger.RuleZCDP && l.Delta == 0:
				wrong = fmt.Sprintf("table %s: a limit with rule zcdp needs delta above 0: without it every "+
					"run would be refused", t.Name)
			}
		}
		if !nameForm.MatchString(t.Name) && wrong == "" {
			wrong = fmt.Sprintf("table name %q must be letters, digits, '.', '_', '-'", t.Name)
		}
	}
	if wrong != "" {
		return fmt.Errorf("%s: %w", wrong, ErrConfig)
	}
	return nil
}

// gridKey is a key that is there and makes jobs of tables only; "" for none.
func (b *Batch) gridKey() string {
	switch {
	case b.Methods != nil:
		return "methods"
	case b.Epsilons != nil:
		return "epsilons"
	case b.Replicates != 0:
		return "replicates"
	}
	return ""
}

// unused says which key of the table nothing would use; "" for none.
func (t *Table) unused(common Job) string {
	key, why := "", ""
	switch {
	case t.Dataset != "" && t.Limit != nil && t.Ledger == "" && common.Ledger == "":
		key, why = "a limit", "is for a ledger, and a dataset has none"
	case t.Holdout != "" && (t.Dataset != "" || common.Evaluate == nil):
		key, why = "a holdout", "needs an input, and job: {evaluate: {...}}"
	default:
		return ""
	}
	return fmt.Sprintf("table %s: %s %s", t.Name, key, why)
}

// size is the number of jobs.
func (b *Batch) size() float64 {
	matrix := float64(len(b.Tables)) * float64(max(1,
		len(b.Methods))) * float64(len(b.Epsilons)) * float64(max(1, b.Replicates))
	return matrix + float64(len(b.Jobs))
}

// Expand lists the jobs, checked, in an order that stays the same: the matrix first (tables,
// methods, epsilons, replicates), then the single ones. Names and outputs are unique.
func (b *Batch) Expand() ([]Job, error) {
	var out []Job
	taken := map[string]bool{}
	methods := b.Methods
	if len(methods) == 0 {
		methods = []Method{{}}
	}
	for _, t := range b.Tables {
		for _, m := range methods {
			for _, epsilon := range b.Epsilons {
				for replicate := range max(1, b.Replicates) {
					j, err := b.cell(t, m, epsilon, replicate+1, taken)
					if err != nil {
						return nil, err
					}
					out = append(out, j)
				}
			}
		}
	}
	for i, j := range b.Jobs {
		if !nameForm.MatchString(j.Name) {
			return nil, fmt.Errorf("jobs, number %d: name %q must be letters, digits, '.', '_', '-': %w",
				i+1, j.Name, ErrConfig)
		}
		j := j.under(b.Job, taken).WithDefaults()
		err := j.checkAlone()
		if err == nil {
			err = j.fill(map[string]string{"batch": b.Name, "job": j.Name})
		}
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		out = append(out, j)
	}
	for _, key := range slices.Sorted(maps.Keys(b.Job.said)) {
		if !taken[key] || key == "name" {
			return nil, fmt.Errorf("line %d: %s under job: is used by no job: each has its own, or none: %w",
				b.Job.said[key], key, ErrConfig)
		}
	}
	names, files := map[string]bool{}, map[string]string{}
	for _, j := range out {
		if names[j.Name] {
			return nil, fmt.Errorf("two jobs are called %s: %w", j.Name, ErrConfig)
		}
		names[j.Name] = true
		for _, path := range []string{j.Out, j.Model} {
			if other, ok := files[path]; ok && path != "" {
				return nil, fmt.Errorf("jobs %s and %s both write %s: %w", other, j.Name, path, ErrConfig)
			}
			files[path] = j.Name
		}
	}
	return out, nil
}

// cell is one job of the matrix.
func (b *Batch) cell(
	t Table, m Method, epsilon float64, replicate int, taken map[string]bool,
) (Job, error) {
	j := Job{Input: t.Input, Dataset: t.Dataset, Schema: t.Schema, Ledger: t.Ledger, Method: m.Method,
		Settings: m.Settings, Epsilon: epsilon}
	j = j.under(b.Job, taken)
	if j.Evaluate != nil && t.Holdout != "" {
		e := *j.Evaluate
		e.Holdout = t.Holdout
		j.Evaluate = &e
	}
	j = j.WithDefaults()
	err := j.checkAlone()
	method, number := cmp.Or(m.Name, j.Method), strconv.FormatFloat(epsilon, 'g', -1, 64)
	j.Name = fmt.Sprintf("%s-%s-%s-%d", t.Name, method, number, replicate)
	if err == nil {
		err = j.fill(map[string]string{"batch": b.Name, "job": j.Name, "table": t.Name, "method": method,
			"epsilon": number, "replicate": strconv.Itoa(replicate)})
	}
	if err != nil {
		return j, fmt.Errorf("job %s: %w", j.Name, err)
	}
	return j, nil
}

// under is the job with what it does not say taken from a common one; these keys are added to
// taken.
func (j Job) under(common Job, taken map[string]bool) Job {
	own, base := reflect.ValueOf(&j).Elem(), reflect.ValueOf(common)
	said := map[string]int{}
	maps.Copy(said, common.said)
	maps.Copy(said, j.said)
	for i := range own.NumField() {
		key := own.Type().Field(i).Tag.Get("yaml")
		if key == "" || j.said[key] > 0 || !own.Field(i).IsZero() ||
			key == "evaluate" && j.Dataset != "" { // nothing is private, and there is no holdout
			continue
		}
		own.Field(i).Set(base.Field(i))
		taken[key] = true
	}
	j.said = said
	return j
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}?|\}`) // or what is left of one

// fill replaces the placeholders.
func (j *Job) fill(values map[string]string) error {
	var err error
	replace := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string {
			name := strings.Trim(p, "{}")
			value, ok := values[name]
			if (!ok || p != "{"+name+"}") && err == nil {
				err = fmt.Errorf("%s in %q is unknown; there is {%s}: %w", p, text,
					strings.Join(slices.Sorted(maps.Keys(values)), "}, {"), ErrConfig)
			}
			return value
		})
	}
	j.Out, j.Model = replace(j.Out), replace(j.Model)
	if j.Evaluate != nil {
		e := *j.Evaluate
		e.Holdout = replace(e.Holdout)
		j.Evaluate = &e
	}
	return err
}

// ParseBytes reads a size such as 500MB or 4GB (powers of ten); "" is 0.
func ParseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, unit := range []struct {
		suffix string
		size   float64
	}{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}} {
		if number, ok := strings.CutSuffix(text, unit.suffix); ok {
			if x, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && x > 0 &&
				x*unit.size < 1e18 {
				return int64(x * unit.size), nil
			}
		}
	}
	return 0, fmt.Errorf("size %q must be a number with kB, MB, GB or TB: %w", text, ErrConfig)
}
