package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
)

// Batch is many jobs: the matrix tables × methods × epsilons × replicates, and single ones.
type Batch struct {
	// part of every job's identity: another name is another release; required
	Name     string    `mapstructure:"name"`
	Tables   []Table   `mapstructure:"tables"`   // of the matrix
	Methods  []Method  `mapstructure:"methods"`  // default: auto
	Epsilons []float64 `mapstructure:"epsilons"` // required with tables
	// default 1; all jobs together are at most maxJobs
	Replicates int `mapstructure:"replicates"`
	// what all jobs have in common; in out, model and evaluate.holdout {table}, {method}, {epsilon},
	// {replicate}, {batch} are replaced
	Job      Job   `mapstructure:"job"`
	Jobs     []Job `mapstructure:"jobs"`     // single jobs
	Parallel int   `mapstructure:"parallel"` // jobs at a time; default the number of cores
	// limit of the forecasts of the jobs that run together, as 500MB or 4GB; default none
	Memory string `mapstructure:"memory"`
	// of a job whose budget is spent and whose run cannot be continued: stop (default) or rerun
	OnInterrupted string `mapstructure:"on_interrupted"`
	// table of results, .csv; an .html beside it; default the batch file with .results.csv
	Results string `mapstructure:"results"`
}

// The bounds of a batch, enforced before its jobs take memory.
const (
	maxJobs  = 10_000  // the matrix and the single ones
	MaxBatch = 4 << 20 // bytes of the file
	maxItems = 200_000 // values in the file, counted as its commas and lines
)

// Table is one private table of a batch.
type Table struct {
	Name    string `mapstructure:"name"`    // required: {table}
	Input   string `mapstructure:"input"`   // or Dataset
	Dataset string `mapstructure:"dataset"` // embedded example
	Schema  string `mapstructure:"schema"`  // schema file; required with Input
	Ledger  string `mapstructure:"ledger"`  // default INPUT.ledger
	Limit   *Limit `mapstructure:"limit"`   // of the ledger, set where it has none yet
	Holdout string `mapstructure:"holdout"` // real rows that were not fitted, for evaluate
}

// Limit is the limit of a ledger.
type Limit struct {
	Epsilon float64 `mapstructure:"epsilon"`
	Delta   float64 `mapstructure:"delta"`
	Rule    string  `mapstructure:"rule"` // basic (default) or zcdp
	// runs that break off before their first mechanism stay charged
	Strict bool `mapstructure:"strict"`
}

// Method is one method of the matrix: a name, or a map.
type Method struct {
	Name     string   `mapstructure:"name"` // {method}; default the method's name
	Method   string   `mapstructure:"method"`
	Settings Settings `mapstructure:"settings"`
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
	v := viper.NewWithOptions(viper.KeyDelimiter("\x00")) // no dots: a setting may have one
	places, err := Read(v, text)
	if err != nil {
		return nil, fmt.Errorf("%s%w: %w", path, err, ErrConfig)
	}
	at := func(key string) string { return fmt.Sprintf("%s, line %d", path, places[key].Line) }
	var b Batch
	var meta mapstructure.Metadata
	err = v.Unmarshal(&b, func(c *mapstructure.DecoderConfig) {
		c.Metadata, c.WeaklyTypedInput = &meta, false
		c.DecodeHook = mapstructure.ComposeDecodeHookFunc(methodByName, settingsByKey, refuse)
	})
	var problems []string
	for _, e := range decodeErrors(err) {
		key := keyOf(e.Name())
		problems = append(problems, fmt.Sprintf("%s: %s %s", at(key), key, expected(e)))
	}
	slices.Sort(meta.Unused)
	for _, unused := range meta.Unused {
		key := keyOf(unused)
		last := key[strings.LastIndexByte(key, '.')+1:]
		problems = append(problems, fmt.Sprintf("%s: unknown key %q%s", at(key), last,
			hint(last, batchKeys())))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(problems, "\n"), ErrConfig)
	}
	b.Job.saying(v.Get("job"))
	if jobs, ok := v.Get("jobs").([]any); ok {
		for i, one := range jobs {
			b.Jobs[i].saying(one)
		}
	}
	name := func(list Settings, prefix string) {
		for i := range list {
			list[i].From = at(prefix + ".settings." + strings.ToLower(list[i].Key))
		}
	}
	name(b.Job.Settings, "job")
	for i, m := range b.Methods {
		name(m.Settings, fmt.Sprint("methods.", i))
	}
	for i, j := range b.Jobs {
		name(j.Settings, fmt.Sprint("jobs.", i))
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &b, nil
}

// keyOf is a key of mapstructure as the map of lines has it.
func keyOf(name string) string {
	return strings.NewReplacer("[", ".", "]", "", "\x00", ".").Replace(strings.ToLower(name))
}

// decodeErrors lists what could not be decoded, value by value.
func decodeErrors(err error) (out []*mapstructure.DecodeError) {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		for _, e := range many.Unwrap() {
			out = append(out, decodeErrors(e)...)
		}
		return out
	}
	if one := (*mapstructure.DecodeError)(nil); errors.As(err, &one) {
		out = append(out, one)
	}
	return out
}

// expected says what a value should have been.
func expected(e *mapstructure.DecodeError) string {
	var want reflect.Type
	switch inner := e.Unwrap().(type) {
	case *mapstructure.UnconvertibleTypeError:
		want = inner.Expected.Type()
	case *mapstructure.ParseError:
		want = inner.Expected.Type()
	default:
		return inner.Error()
	}
	switch want.Kind() {
	case reflect.Float64:
		return "must be a number"
	case reflect.Int, reflect.Uint64:
		return "must be a whole number that is not negative"
	case reflect.Bool:
		return "must be true or false"
	case reflect.String:
		return "must be a text"
	case reflect.Slice:
		return "must be a list"
	}
	return "must hold lines of key: value"
}

// methodByName lets a method be its name alone.
func methodByName(from, to reflect.Type, value any) (any, error) {
	if to == reflect.TypeFor[Method]() && from.Kind() == reflect.String {
		return map[string]any{"method": value}, nil
	}
	return value, nil
}

// settingsByKey makes settings of a map. ParseBatch fills their origins in.
func settingsByKey(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[Settings]() {
		return value, nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("must hold lines of key: value")
	}
	return SettingsOf(values, func(string) string { return "settings" }), nil
}

// batchKeys are the keys that a batch file may have somewhere.
func batchKeys() []string {
	keys := map[string]bool{}
	for _, t := range []reflect.Type{reflect.TypeFor[Batch](), reflect.TypeFor[Table](),
		reflect.TypeFor[Method](), reflect.TypeFor[Job](),
		reflect.TypeFor[Limit](), reflect.TypeFor[Evaluate]()} {
		for i := range t.NumField() {
			keys[t.Field(i).Tag.Get("mapstructure")] = true
		}
	}
	delete(keys, "") // of a field that is no key
	return slices.Sorted(maps.Keys(keys))
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
		if l := t.Limit; l != nil && wrong == "" {
			rule := ledger.Rule(cmp.Or(l.Rule, string(ledger.RuleBasic)))
			switch {
			case (accountant.Budget{Epsilon: l.Epsilon, Delta: l.Delta}).Validate() != nil ||
				rule != ledger.RuleBasic && rule != ledger.RuleZCDP:
				wrong = fmt.Sprintf("table %s: limit %+v must have epsilon > 0, delta from 0 to %v, rule "+
					"basic or zcdp", t.Name, *l, accountant.MaxDelta)
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
	methods := b.Methods
	if len(methods) == 0 {
		methods = []Method{{}}
	}
	for _, t := range b.Tables {
		for _, m := range methods {
			for _, epsilon := range b.Epsilons {
				for replicate := range max(1, b.Replicates) {
					j, err := b.cell(t, m, epsilon, replicate+1)
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
		j := j.under(b.Job).WithDefaults()
		err := j.checkAlone()
		if err == nil {
			err = j.fill(map[string]string{"batch": b.Name, "job": j.Name})
		}
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		out = append(out, j)
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
func (b *Batch) cell(t Table, m Method, epsilon float64, replicate int) (Job, error) {
	j := Job{Input: t.Input, Dataset: t.Dataset, Schema: t.Schema, Ledger: t.Ledger, Method: m.Method,
		Settings: m.Settings, Epsilon: epsilon}
	j = j.under(b.Job)
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

// saying notes which keys a map of a batch file has.
func (j *Job) saying(values any) {
	j.said = map[string]bool{}
	if keys, ok := values.(map[string]any); ok {
		for key := range keys {
			j.said[key] = true
		}
	}
}

// under is the job with what it does not say taken from a common one.
func (j Job) under(common Job) Job {
	own, base := reflect.ValueOf(&j).Elem(), reflect.ValueOf(common)
	said := map[string]bool{}
	maps.Copy(said, common.said)
	maps.Copy(said, j.said)
	for i := range own.NumField() {
		if key := own.Type().Field(i).Tag.Get("mapstructure"); key != "" && !j.said[key] &&
			own.Field(i).IsZero() {
			own.Field(i).Set(base.Field(i))
		}
	}
	j.said = said
	if j.Dataset != "" {
		j.Evaluate = nil // nothing is private, and there is no holdout
	}
	return j
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// fill replaces the placeholders.
func (j *Job) fill(values map[string]string) error {
	var err error
	replace := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string {
			value, ok := values[p[1:len(p)-1]]
			if !ok && err == nil {
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
