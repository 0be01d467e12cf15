package configs

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth"
	"go.yaml.in/yaml/v3"
)

const smallBatch = `
name: b
tables:
  - {name: t, input: t.csv, schema: t.yaml}
  - {name: u, dataset: icu-mortality}
methods: [mst, {name: careful, method: mst, settings: {group_sigmas: 4}}]
epsilons: [0.5, 2]
replicates: 2
job:
  out: "{batch}/{table}/{method}-{epsilon}-{replicate}.csv"
  delta: 1e-7
  evaluate: {holdout: "{job}-hold.csv"}
jobs:
  - {name: one, input: v.csv, schema: v.yaml, method: wgan, epsilon: 1, rows: 10, out: one.csv,
     settings: {steps: 3}}
`

// check ends the test on an error.
var check = stattest.Check

func expand(t *testing.T, path, text string) ([]Job, error) {
	t.Helper()
	b, err := ParseBatch(path, []byte(text))
	if err != nil {
		return nil, err
	}
	jobs, err := b.Expand()
	for _, j := range jobs {
		if _, e := j.Fitter(); err == nil {
			err = e
		}
	}
	return jobs, err
}

func TestExpand(t *testing.T) {
	jobs := stattest.Must(expand(t, "b.yaml", smallBatch))
	if len(jobs) != 17 {
		t.Fatalf("%d jobs, want 17", len(jobs))
	}
	j := jobs[7]
	if j.Name != "t-careful-2-2" || j.Out != "b/t/careful-2-2.csv" || j.Method != "mst" ||
		j.Epsilon != 2 || j.Delta != 1e-7 || j.Adjacency != "add-remove" ||
		j.Evaluate == nil || j.Evaluate.Holdout != "t-careful-2-2-hold.csv" {
		t.Errorf("job 7 is %+v", j)
	}
	stattest.Passes(t, stattest.Err(j.Fitter()), "")
	if jobs[8].Dataset != "icu-mortality" || jobs[8].Evaluate != nil {
		t.Errorf("job 8 is %+v", jobs[8])
	}
	last := jobs[16]
	if last.Name != "one" || last.Method != "wgan" || last.Settings[0].Key != "steps" ||
		last.Settings[0].Value != 3 ||
		last.Delta != 1e-7 || last.Out != "one.csv" {
		t.Errorf("the single job is %+v", last)
	}
	again := stattest.Must(expand(t, "b.yaml", smallBatch))
	seen := map[string]bool{}
	for i := range jobs {
		id := jobs[i].identity("b", "schema", "")
		if id != again[i].identity("b", "schema", "") {
			t.Errorf("job %d has two identities", i)
		}
		seen[id] = true
	}
	if len(seen) != len(jobs) {
		t.Errorf("%d identities of %d jobs", len(seen), len(jobs))
	}
}

// TestIdentity: what is measured decides, and nothing else.
func TestIdentity(t *testing.T) {
	base := Job{Name: "n", Source: Source{Input: "a.csv", Schema: "a.yaml"}, Epsilon: 1,
		Out: "x.csv"}.WithDefaults()
	id := base.identity("b", "s", "")
	for _, c := range []struct {
		name string
		edit func(*Job)
		same bool
	}{
		{"out", func(j *Job) { j.Out = "y.csv" }, true},
		{"model", func(j *Job) { j.Model = "m" }, true},
		{"rows", func(j *Job) { j.Rows = 7 }, true},
		{"seed", func(j *Job) { j.Seed = 7 }, true},
		{"evaluate", func(j *Job) { j.Evaluate = &evaluation{Holdout: "h"} }, true},
		{"where the schema is", func(j *Job) { j.Schema = "other.yaml" }, true},
		{"epsilon", func(j *Job) { j.Epsilon = 2 }, false},
		{"delta", func(j *Job) { j.Delta = 1e-5 }, false},
		{"input", func(j *Job) { j.Input = "b.csv" }, false},
		{"method", func(j *Job) { j.Method = "wgan" }, false},
		{"settings", func(j *Job) { j.Settings = Settings{{Key: "iterations", Value: 7}} }, false},
		{"ledger", func(j *Job) { j.Ledger = "l" }, false},
		{"adjacency", func(j *Job) { j.Adjacency = "replace-one" }, false},
		{"name", func(j *Job) { j.Name = "m" }, false},
		{"spelling", func(j *Job) { j.Input = "x/.././a.csv" }, true},
		{"ledger, which is the default", func(j *Job) { j.Ledger = "./a.csv.ledger" }, true},
	} {
		j := base
		c.edit(&j)
		if got := j.identity("b", "s", "") == id; got != c.same {
			t.Errorf("another %s: the same identity %v, want %v", c.name, got, c.same)
		}
	}
	if base.identity("c", "s", "") == id || base.identity("b", "t", "") == id {
		t.Error("batch and schema are part of the identity")
	}
	form := regexp.MustCompile(`^[0-9a-f]{16}$`)
	if a := runName(id); !form.MatchString(a) || a == runName(id[1:]) {
		t.Errorf("run %s", a)
	}
}

// TestMistakes: each bad file of testdata begins with the error that it must give; the good ones
// are read.
func TestMistakes(t *testing.T) {
	paths := stattest.Must(filepath.Glob("testdata/*.yaml"))
	if len(paths) < 40 {
		t.Fatalf("only %d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			check(t, err)
			_, err = expand(t, path, string(text))
			first, _, _ := strings.Cut(string(text), "\n")
			want, bad := strings.CutPrefix(first, "# want: ")
			switch {
			case !bad:
				check(t, err)
			case err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, synth.ErrConfig):
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}

func TestBadBatches(t *testing.T) {
	const table = "tables: [{name: t, input: t.csv, schema: t.yaml}]\nepsilons: [1]\n"
	for _, c := range []struct{ name, text, want string }{
		{"not YAML", "{", "b.yaml, line 2: not YAML"},
		{"unknown key below", "name: b\n" + table + "job:\n  outt: x\n",
			`b.yaml, line 5: unknown key "outt"; did you mean "out"?`},
		{"unknown key in a list", "name: b\ntables:\n  - {name: t,\n     imput: t.csv}\n",
			`b.yaml, line 4: unknown key "imput"; did you mean "input"?`},
		{"wrong type", "name: b\nepsilons: [much]\n", "epsilons"},
		{"no name", table, "name"},
		{"name with a slash", "name: a/b\n" + table, "letters"},
		{"table without a name", "name: b\ntables: [{input: t.csv}]\nepsilons: [1]\n", "number 1"},
		{"no jobs", "name: b\n", "no tables"},
		{"no epsilons", "name: b\ntables: [{name: t, input: t.csv}]\n", "epsilons is required"},
		{"unknown key", "name: b\nmemory: 4\n" + table, "there is name, tables, methods"},
		{"negative replicates", "name: b\nreplicates: -1\n" + table, "replicates"},
		{"too many replicates", "name: b\nreplicates: 2000000000\n" + table, "2e+09 jobs"},
		{"a matrix that is too large", "name: b\nreplicates: 4000000000000000000\n" + table,
			"4e+18 jobs"},
		{"more rows than can be drawn", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, " +
			"rows: 1000000000000000, out: a.csv}]\n", "rows 1000000000000000 must be"},
		{"negative parallel", "name: b\nparallel: -1\n" + table, "parallel"},
		{"no out", "name: b\n" + table, "job t-auto-1-1: out is required"},
		{"one name", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, out: a.csv}, " +
			"{name: x, dataset: icu-mortality, epsilon: 1, out: b.csv}]\n", "two jobs are called x"},
		{"job without a name", "name: b\njobs: [{dataset: icu-mortality, epsilon: 1, out: a.csv}]\n",
			"jobs, number 1: name"},
		{"no table", "name: b\njobs: [{name: x, epsilon: 1, out: a.csv}]\n",
			"input or dataset is required"},
		{"standard input", "name: b\njobs: [{name: x, input: '-', schema: s, epsilon: 1, out: a.csv}]\n",
			"standard input"},
		{"standard input of Arrow", "name: b\njobs: [{name: x, input: 'arrow:-', schema: s, " +
			"epsilon: 1, out: a.csv}]\n", "standard input"},
		{"standard output of Arrow", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, " +
			"out: 'arrow:-'}]\n", "standard input"},
		{"two outputs", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, out: a.csv, " +
			"out-dir: b}]\n", "only one of them"},
		{"no schema", "name: b\njobs: [{name: x, input: x.csv, epsilon: 1, out: a.csv}]\n",
			"schema is required"},
		{"schema of a dataset", "name: b\njobs: [{name: x, dataset: icu-mortality, schema: s, epsilon: " +
			"1, out: a.csv}]\n", "which has its own"},
		{"epsilon", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: -1, out: a.csv}]\n",
			"epsilon -1"},
		{"epsilon beyond use", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1e9, out: " +
			"a.csv}]\n", "epsilon 1e+09 must be above 0 and at most 10000"},
		{"delta", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, delta: 0.1, out: " +
			"a.csv}]\n", "delta 0.1"},
		{"adjacency", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, adjacency: near, " +
			"out: a.csv}]\n", "adjacency"},
		{"rows", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, rows: -1, out: a.csv}]\n",
			"rows -1"},
		{"neither a schema nor a public header", "name: b\njobs: [{name: x, input: a.csv, epsilon: 1, " +
			"out: b.csv}]\n", "schema is required; or header_is_public: true"},
		{"a unit beside a schema", "name: b\njobs: [{name: x, input: a.csv, schema: s, unit: id, " +
			"epsilon: 1, out: b.csv}]\n", "unit is for a table without a schema"},
		{"a share", "name: b\njobs: [{name: x, input: a.csv, header_is_public: true, schema_share: 1, " +
			"epsilon: 1, out: b.csv}]\n", "schema_share 1 must be above 0 and below 1"},
		{"setting that is no number", "name: b\njobs: [{name: x, dataset: icu-mortality, epsilon: 1, " +
			"settings: {a: .nan}, out: a.csv}]\n", "settings"},
		{"a setting that does not exist", "name: b\njobs:\n  - name: x\n    dataset: icu-mortality\n" +
			"    epsilon: 1\n    out: a.csv\n    settings:\n      stepss: 3\n",
			`b.yaml, line 8: method aim has no setting "stepss"`},
		{"settings that are none", "name: b\njob: {settings: 7}\n" + table,
			"b.yaml, line 2: job.settings must hold lines of key: value"},
		{"a list for a number", "name: b\nreplicates: [1]\n" + table,
			"b.yaml, line 2: replicates must be a whole number"},
		{"a key twice", "name: b\nname: c\n" + table,
			`b.yaml, line 2: key "name" is there twice (also in line 1)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := expand(t, "b.yaml", c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
			if !errors.Is(err, synth.ErrConfig) {
				t.Errorf("error %v is of another kind", err)
			}
		})
	}
}

// TestExamples checks the examples as far as that can be done without a cluster: the batch file is
// good, and both scheduler files run each of its jobs once, by flags that exist.
func TestExamples(t *testing.T) {
	file := stattest.Must(os.ReadFile(filepath.Join("examples", "jobs.yaml")))
	b := stattest.Must(ParseBatch("jobs.yaml", file))
	jobs := stattest.Must(b.Expand())
	text := stattest.Must(os.ReadFile(filepath.Join("examples", "kubernetes.yaml")))
	var k struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			CompletionMode       string `yaml:"completionMode"`
			Completions          int
			Parallelism          int
			BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
			MaxFailedIndexes     int `yaml:"maxFailedIndexes"`
			Template             struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Name, Image, WorkingDir string `yaml:",omitempty"`
						Command                 []string
						Env                     []struct{ Name string }
					}
				}
			}
		}
	}
	check(t, yaml.Unmarshal(text, &k))
	if k.APIVersion != "batch/v1" || k.Kind != "Job" || k.Spec.CompletionMode != "Indexed" ||
		k.Spec.Completions != len(jobs) || k.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("the Kubernetes job is %+v, want %d indexed completions", k, len(jobs))
	}
	c := k.Spec.Template.Spec.Containers
	if len(c) != 1 || !slices.Equal(c[0].Command, []string{"decoy", "batch", "jobs.yaml"}) ||
		len(c[0].Env) != 1 || c[0].Env[0].Name != "DECOY_ONLY" {
		t.Errorf("the container is %+v", c)
	}
	script := stattest.Must(os.ReadFile(filepath.Join("examples", "slurm.sh")))
	array := regexp.MustCompile(`(?m)^#SBATCH --array=0-(\d+)$`).FindSubmatch(script)
	if array == nil || string(array[1]) != strconv.Itoa(len(jobs)-1) {
		t.Errorf("the Slurm array is %s, want 0-%d", array, len(jobs)-1)
	}
	if !strings.HasPrefix(string(script), "#!/bin/sh\n") ||
		!strings.Contains(string(script), "\ndecoy batch jobs.yaml --only \"$SLURM_ARRAY_TASK_ID\"\n") {
		t.Error("the Slurm script does not run decoy batch --only")
	}
}

func FuzzParseBatch(f *testing.F) {
	f.Add(smallBatch)
	f.Add("name: b\ntables: [{name: t, input: t.csv, schema: s.yaml}]\nepsilons: [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBatch("b.yaml", []byte(text))
		if err != nil || b.Replicates > 100 {
			return
		}
		jobs, err := b.Expand()
		if err != nil {
			return
		}
		for _, j := range jobs {
			stattest.Passes(t, j.checkAlone(), "a checked job does not pass")
			j.identity(b.Name, "s", "")
		}
	})
}

// TestZeroIsSaid: a job that gives a key its zero value does not take that of the common job.
func TestZeroIsSaid(t *testing.T) {
	b := stattest.Must(ParseBatch("b.yaml", []byte(`name: n
job: {delta: 1e-6, spreadsheet-safe: true, input: a.csv, schema: a.yaml, epsilon: 1, out: "{job}.csv",
  evaluate: {holdout: h.csv}}
jobs:
  - {name: zero, delta: 0, spreadsheet-safe: false, evaluate: null}
  - {name: common}
`)))
	jobs := stattest.Must(b.Expand())
	if j := jobs[0]; j.Delta != 0 || j.SpreadsheetSafe || j.Evaluate != nil {
		t.Errorf("zeros are not kept: %+v", j)
	}
	if j := jobs[1]; j.Delta != 1e-6 || !j.SpreadsheetSafe || j.Evaluate == nil {
		t.Errorf("the common job's values are lost: %+v", j)
	}
	for text, want := range map[string]float64{"job: {delta: 0}": 0, "job: {}": DefaultDelta} {
		b := stattest.Must(ParseBatch("b.yaml", []byte("name: n\n"+text+"\nepsilons: [1]\ntables:\n"+
			"  - {name: t, input: a.csv, schema: a.yaml}\njobs: [{name: j, out: a.csv, dataset: d, "+
			"epsilon: 1}]\n")))
		b.Job.Out = "{job}.csv"
		jobs := stattest.Must(b.Expand())
		for _, j := range jobs {
			if j.Delta != want {
				t.Errorf("%s: delta of %s is %v, want %v", text, j.Name, j.Delta, want)
			}
		}
	}
}
