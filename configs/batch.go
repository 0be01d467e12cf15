package configs

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Batch is many jobs: the matrix tables × methods × epsilons × replicates, and single ones.
type Batch struct {
	// part of every job's identity: another name is another release; required
	Name     string        `yaml:"name"`
	Tables   []batchTable  `yaml:"tables"`   // of the matrix
	Methods  []batchMethod `yaml:"methods"`  // default: auto
	Epsilons []float64     `yaml:"epsilons"` // required with tables
	// default 1; all jobs together are at most maxJobs
	Replicates int `yaml:"replicates"`
	// what all jobs have in common; in out, out-dir, model and evaluate.holdout {table}, {method},
	// {epsilon}, {replicate}, {batch} are replaced
	Job      Job   `yaml:"job"`
	Jobs     []Job `yaml:"jobs"`     // single jobs
	Parallel int   `yaml:"parallel"` // jobs at a time; default the number of cores
	// table of results, .csv; default the batch file with .results.csv
	Results string `yaml:"results"`

	path string
}

// The bounds of a batch, enforced before its jobs take memory.
const (
	maxJobs  = 10_000  // the matrix and the single ones
	MaxBatch = 4 << 20 // bytes of the file
)

// batchTable is one private table of a batch.
type batchTable struct {
	Name string `yaml:"name"` // required: {table}
	Source
	Ledger  string `yaml:"ledger"`  // default INPUT.ledger
	Holdout string `yaml:"holdout"` // real rows that were not fitted, for evaluate
}

// batchMethod is one method of the matrix: a name, or a map.
type batchMethod struct {
	Name     string   `yaml:"name"` // {method}; default the method's name
	Method   string   `yaml:"method"`
	Settings Settings `yaml:"settings"`
}

// ParseBatch reads the text of a batch file, strictly; path names it in errors. All problems are
// reported together, with their lines.
func ParseBatch(path string, text []byte) (*Batch, error) {
	var problems []string
	r := yamlfile.Reader{Report: func(line int, text string) {
		problems = append(problems, path+", "+yamlfile.At(line, text))
	}, Unknown: func(key string, known []string) string {
		return fmt.Sprintf("unknown key %q%s", key, hint(key, known))
	}}
	b := Batch{path: path}
	r.Read(text, "a batch file", "name: autumn", &b)
	if len(problems) > 0 {
		return nil, invalid("%s", strings.Join(problems, "\n"))
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &b, nil
}

var _, _, _ yamlfile.Special = (*Job)(nil), (*batchMethod)(nil), (*Settings)(nil)

// FromYAML lets a method be its name alone.
func (m *batchMethod) FromYAML(r yamlfile.Reader, n *yaml.Node, key string) {
	if n.Kind == yaml.ScalarNode {
		r.Decode(n, key, &m.Method)
		return
	}
	type fields batchMethod
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

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const nameWords = "must be one or more letters, digits, '.', '_', '-'"

func (b *Batch) check() error {
	matrix := b.Methods != nil || b.Epsilons != nil || b.Replicates != 0
	switch {
	case !nameForm.MatchString(b.Name):
		return invalid("name %q %s; another name makes another release of the same tables", b.Name,
			nameWords)
	case len(b.Tables) == 0 && len(b.Jobs) == 0:
		return invalid("there are no tables and no jobs")
	case len(b.Tables) == 0 && matrix:
		return invalid("methods, epsilons and replicates go with tables, of which there are none: the " +
			"jobs under jobs: say their own")
	case len(b.Tables) > 0 && len(b.Epsilons) == 0:
		return invalid("epsilons is required")
	case b.Replicates < 0 || b.Parallel < 0:
		return invalid("replicates %d and parallel %d must not be negative", b.Replicates, b.Parallel)
	case b.size() > maxJobs:
		return invalid("%.4g jobs, tables × methods × epsilons × replicates and single ones: %d are the "+
			"most of one file", b.size(), maxJobs)
	}
	for i, t := range b.Tables {
		if t.Holdout != "" && (t.Dataset != "" || b.Job.Evaluate == nil) {
			return invalid("table %s: a holdout needs an input, and job: {evaluate: {...}}", t.Name)
		}
		if !nameForm.MatchString(t.Name) {
			return invalid("tables, number %d: name %q %s", i+1, t.Name, nameWords)
		}
	}
	return nil
}

// size is the number of jobs.
func (b *Batch) size() float64 {
	return float64(len(b.Tables))*float64(max(1, len(b.Methods)))*float64(len(b.Epsilons))*
		float64(max(1, b.Replicates)) + float64(len(b.Jobs))
}

// Expand lists the jobs, checked, in an order that stays the same: the matrix first (tables,
// methods, epsilons, replicates), then the single ones. Names and outputs are unique.
func (b *Batch) Expand() ([]Job, error) {
	x := expansion{Batch: b, names: map[string]bool{}}
	methods := b.Methods
	if len(methods) == 0 {
		methods = []batchMethod{{}}
	}
	for _, t := range b.Tables {
		for _, m := range methods {
			for _, epsilon := range b.Epsilons {
				for replicate := range max(1, b.Replicates) {
					cell := map[string]string{"table": t.Name, "method": m.Name,
						"epsilon":   strconv.FormatFloat(epsilon, 'g', -1, 64),
						"replicate": strconv.Itoa(replicate + 1)}
					x.add(Job{Source: t.Source, Ledger: t.Ledger, Method: m.Method, Settings: m.Settings,
						Epsilon: epsilon}, cell, t.Holdout)
				}
			}
		}
	}
	for i, j := range b.Jobs {
		if !nameForm.MatchString(j.Name) && x.err == nil {
			x.err = invalid("jobs, number %d: name %q %s", i+1, j.Name, nameWords)
		}
		x.add(j, nil, "")
	}
	return x.jobs, x.err
}

// expansion is the list of jobs in the making.
type expansion struct {
	*Batch
	jobs  []Job
	names map[string]bool
	err   error
}

// add completes a job from what is common, the defaults and the placeholders, and checks it. One of
// the matrix has its place there, and no name yet; holdout takes the place of the common one.
func (x *expansion) add(j Job, cell map[string]string, holdout string) {
	if x.err != nil {
		return
	}
	if j = j.under(x.Job).WithDefaults(); !j.bare() {
		j.HeaderIsPublic = false // which may be said of all at once
	}
	values := map[string]string{"batch": x.Name}
	if cell != nil {
		cell["method"] = cmp.Or(cell["method"], j.Method)
		j.Name = fmt.Sprintf("%s-%s-%s-%s", cell["table"], cell["method"], cell["epsilon"],
			cell["replicate"])
		maps.Copy(values, cell)
	}
	values["job"] = j.Name
	if j.Evaluate != nil {
		own := *j.Evaluate
		own.Holdout = cmp.Or(holdout, own.Holdout)
		j.Evaluate = &own
	}
	err := j.checkAlone()
	if err == nil {
		err = j.fill(values)
	}
	if err != nil {
		x.err = fmt.Errorf("job %s: %w", j.Name, err)
		return
	}
	if x.names[j.Name] {
		x.err = invalid("two jobs are called %s", j.Name)
	}
	x.names[j.Name] = true
	j.Settings = j.Settings.In(x.path)
	x.jobs = append(x.jobs, j)
}

// under is the job with what it does not say taken from a common one.
func (j Job) under(common Job) Job {
	own, base := reflect.ValueOf(&j).Elem(), reflect.ValueOf(common)
	said := map[string]int{}
	maps.Copy(said, common.said)
	maps.Copy(said, j.said)
	for _, f := range reflect.VisibleFields(own.Type()) {
		key := f.Tag.Get("yaml")
		if key == "" || j.said[key] > 0 || !own.FieldByIndex(f.Index).IsZero() ||
			key == "evaluate" && j.Dataset != "" { // nothing is private, and there is no holdout
			continue
		}
		own.FieldByIndex(f.Index).Set(base.FieldByIndex(f.Index))
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
			value, ok := values[strings.Trim(p, "{}")]
			if !ok || p[0] != '{' || !strings.HasSuffix(p, "}") {
				err = cmp.Or(err, invalid("%s in %q is unknown; there is {%s}", p, text,
					strings.Join(slices.Sorted(maps.Keys(values)), "}, {")))
			}
			return value
		})
	}
	j.Out, j.OutDir, j.Model = replace(j.Out), replace(j.OutDir), replace(j.Model)
	if j.Evaluate != nil {
		j.Evaluate.Holdout = replace(j.Evaluate.Holdout)
	}
	return err
}
