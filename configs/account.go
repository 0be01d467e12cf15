package configs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Account is what a run pays from, and what tells whether it was begun before.
type Account struct {
	Ledger *ledger.File // nil for an embedded example: no account is kept
	// the private table; of linked ones all, the units' first; none of an example
	Inputs  []string
	Named   bool   // the ledger was chosen by whoever runs it; else it is beside the input
	Resume  bool   // continue the run that was begun; one must have been
	Unasked bool   // continue one if it was begun
	Tool    string // program and version
	Stdout  io.Writer
	Say     func(format string, args ...any)

	// Of Begin.
	journal string   // of the run; "" for none
	outputs []string // of the run, as seen from the ledger
	before  *ledger.Ledger
	run     string // that is continued; "" for none
}

// Options are those of a run of the job, after Begin. It is continued as the same job alone.
func (a *Account) Options(j Job) privacy.Options {
	o := privacy.Options{Budget: j.Budget(), Adjacency: j.Relation(), Ledger: a.Ledger,
		Tool: a.Tool, Journal: a.journal, Resume: a.run != "", Outputs: a.outputs}
	if a.Ledger != nil {
		j.Name, j.Input, j.Inputs, j.Ledger = "", "", a.Inputs, ""
		j.Schema = "" // whose fingerprint the run has
		o.Program = ", of " + string(j.spends(filepath.Dir(Resolve(a.Ledger.Path()))))
	}
	return o
}

// Begin tells of runs that did not finish, and finds out whether this one, of a verb whose results
// go to these files, is one of them: the first is its name. It comes before the
// outputs are created: a file that is there may be that of an unfinished run.
func (a *Account) Begin(verb string, results ...NamedPath) error {
	// whoever reads our output and leaves early must not take what is paid for along
	signal.Ignore(syscall.SIGPIPE)
	a.before = &ledger.Ledger{}
	if IsStandard(results[0].Path) {
		if err := checkOpen(a.Stdout); err != nil {
			return err
		}
	}
	if a.Ledger == nil {
		a.Say("the table is a public, simulated example: no ledger is kept (--ledger FILE keeps one)")
		if a.Resume {
			return Usagef("--resume: a run is continued from its ledger and the journal beside it; " +
				"this one has neither")
		}
		return nil
	}
	var err error
	if a.before, err = a.Ledger.Read(); err != nil {
		return err
	}
	for _, text := range Unfinished(a.before, a.Ledger.Path()) {
		a.Say("%s", text)
	}
	for _, input := range a.Inputs {
		if err := a.other(input); err != nil {
			return err
		}
	}
	for _, result := range results {
		a.outputs = append(a.outputs, outputOf(a.Ledger, result.Path))
	}
	a.journal = journalOf(a.Ledger, verb, results[0].Path)
	return a.compare()
}

// journalOf is the file that keeps a run of a verb until it is done. It has the name of the run's
// first output: whoever makes the same goes on with it. It is beside the ledger and hence beside
// the data: as long as it is there it is as secret as these.
func journalOf(l *ledger.File, verb, output string) string {
	sum := sha256.Sum256([]byte(verb + " " + outputOf(l, output)))
	return fmt.Sprintf("%s.%x.journal", l.Path(), sum[:6])
}

// outputOf names an output as seen from the folder of the ledger: a folder that holds both may be
// moved between a run and its continuation.
func outputOf(l *ledger.File, path string) string {
	if IsStandard(path) {
		return "standard output"
	}
	return seenFrom(filepath.Dir(Resolve(l.Path())), path)
}

// compare compares what was asked for with the journal. To start anew in place of an unfinished run
// would pay twice, so that without --resume it is an error.
func (a *Account) compare() error {
	left, running, err := privacy.Unfinished(a.journal, a.Ledger)
	switch {
	case err != nil:
		return err
	case running:
		return &Reworded{fmt.Sprintf("run %s is still working on this output: wait for it to end; "+
			"nothing further is spent", left), errors.Join(errElsewhere, ledger.ErrLocked)}
	case a.Resume && left == "":
		return Usagef("--resume: there is no unfinished run with this output in %s", a.Ledger.Path())
	case !a.Resume && !a.Unasked && left != "":
		return Usagef("run %s with this output is unfinished, and its budget is spent: the same "+
			"command with --resume finishes it, at no further cost; "+
			"to give it up, and pay for a new run, remove %s", left, a.journal)
	case left != "":
		a.run = left
		a.Say("continuing run %s", left)
	}
	return nil
}

// Explain adds to the error of a run what became of its budget, and how to go on. started says that
// it has a session.
func (a *Account) Explain(err error, started bool) error {
	switch {
	case errors.Is(err, release.ErrNothing):
		err = fmt.Errorf("%w; a schema can be written by hand (decoy help schema)", err)
	case errors.Is(err, ledger.ErrLocked) && !started:
		return err // nothing is to be said of another process's run
	case errors.Is(err, privacy.ErrResume):
		return fmt.Errorf("%w\nnothing further is spent, and the run is as it was: it can only be "+
			"continued by the same program, with the same input, schema, settings, epsilon, delta and "+
			"outputs", err)
	}
	interrupted, said := a.fate(started)
	switch {
	case errors.Is(err, context.Canceled):
		return &Reworded{"interrupted" + interrupted, err}
	case a.Ledger != nil:
		a.Say("%s", said)
	}
	if said == unspent && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		a.Say("where no file can be written beside the table, name another place for its account with " +
			"--ledger, in every run on it")
	}
	return err
}

const unspent = "nothing is spent: nothing was measured"

// fate is what became of the budget of a run: that was interrupted, or that failed.
func (a *Account) fate(started bool) (interrupted, failed string) {
	if a.Ledger == nil {
		return "", ""
	}
	const again = "the same command with --resume goes on, at no further cost"
	left, _, _ := privacy.Unfinished(a.journal, a.Ledger)
	switch {
	case left != "":
		return fmt.Sprintf(": the budget stays spent in %s; %s", a.Ledger.Path(), again),
			fmt.Sprintf("the budget of this run stays spent; %s (to give the run up, remove %s)", again,
				a.journal)
	case started || a.run != "" || a.spent():
		return fmt.Sprintf(": the run is closed as cancelled in %s and its budget stays spent; a new "+
			"run costs its own", a.Ledger.Path()), "the budget of this run stays spent"
	}
	return " before anything was spent", unspent
}

// WithoutRho names the runs of a ledger that count as spent and that no limit of rule zcdp can add
// up, as they have no figure in zCDP.
func WithoutRho(l *ledger.Ledger) (names []string) {
	for _, r := range l.Runs() {
		if math.IsInf(accountant.Rho(r.Reserved), 1) {
			names = append(names, fmt.Sprintf("run %s (%s)", r.Run, r.Method))
		}
	}
	return names
}

// spent reports whether the ledger has more runs now than at Begin: a run without a session was
// reserved all the same, and then its rows could not be had.
func (a *Account) spent() bool {
	after, err := a.Ledger.Read()
	return err == nil && len(after.Runs()) > len(a.before.Runs())
}

// other tells of a ledger beside a table that this run is not entered in. Beside a table that is
// read along with the first one it is an error, unless it has no limit and --ledger names another:
// else nobody has chosen to pass by it, and the units may be those of the wrong table.
func (a *Account) other(input string) error {
	beside := Resolve(input) + ".ledger"
	if IsStandard(input) || SameFile(beside, a.Ledger.Path()) {
		return nil
	}
	l := &ledger.Ledger{}
	_, err := LedgerAt(beside)
	if err == nil {
		l, err = ledger.NewFile(beside).Read()
	}
	if err != nil && input != a.Inputs[0] { // nobody can say what it counts
		return err
	}
	if err != nil || len(l.Entries) == 0 {
		return nil
	}
	if _, limited := l.LimitInForce(); (limited || !a.Named) && input != a.Inputs[0] {
		return Usagef("%s counts what is spent on %s, and this run would be counted in %s alone, with "+
			"%s as the table of the units. Is that the wrong one? Else --ledger names the account of all "+
			"runs on these people", beside, input, a.Ledger.Path(), a.Inputs[0])
	}
	a.Say("warning: there is another ledger beside the table, %s, with spent %s: this run is not "+
		"counted there", beside, SpentText(l))
	return nil
}

// SayTotal says what the ledger now holds, if there is one.
func (a *Account) SayTotal() {
	if a.Ledger == nil {
		return
	}
	l, err := a.Ledger.Read()
	if err != nil {
		a.Say("ledger: %v", err)
		return
	}
	a.Say("ledger: %s, spent %s", a.Ledger.Path(), SpentText(l))
}

// SpentText is the total of a ledger and its limit.
func SpentText(l *ledger.Ledger) string {
	text := BudgetText(l.Spent())
	limit, ok := l.LimitInForce()
	if !ok {
		return text + " in all, no limit is set (decoy ledger limit)"
	}
	return fmt.Sprintf("%s of %s", text, LimitText(limit))
}

// BudgetText is a budget in words.
func BudgetText(b accountant.Budget) string {
	return fmt.Sprintf("epsilon %s, delta %s", Short(b.Epsilon), Short(b.Delta))
}

// LimitText is a limit and how it counts.
func LimitText(limit ledger.Entry) string {
	text := fmt.Sprintf("%s (rule %s", BudgetText(*limit.Budget), limit.Rule)
	if limit.MostRuns > 0 {
		text += fmt.Sprintf(", at most %d runs", limit.MostRuns)
	}
	if limit.Key != "" {
		text += ", signed"
	}
	return text + ")"
}

// Short is a number for people, to six digits.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Unfinished has one sentence for each reserved run of the ledger at path without a close entry.
func Unfinished(l *ledger.Ledger, path string) []string {
	working := map[string]bool{} // runs whose journals are beside the ledger, and held by a process
	journals, _ := filepath.Glob(path + ".*.journal")
	for _, journal := range journals {
		run, running, err := privacy.Unfinished(journal, ledger.NewFile(path))
		working[run] = err == nil && running
	}
	return unfinished(l, working)
}

func unfinished(l *ledger.Ledger, working map[string]bool) (out []string) {
	for _, r := range l.Runs() {
		if r.Status != ledger.StatusUnfinished {
			continue
		}
		run := fmt.Sprintf("run %s (%s, epsilon %s, %s)", r.Run, r.Method, Short(r.Budget.Epsilon),
			r.Time.UTC().Format(time.DateOnly))
		switch {
		case working[r.Run]:
			out = append(out, run+" is still working; its budget is already spent")
		case r.Method == "party" || r.Method == "holdout": // which keep no journal
			out = append(out, run+" has not come to its end, and its budget stays spent: a run of method "+
				r.Method+" cannot be continued")
		default:
			out = append(out, run+" stopped before its end, and its budget stays spent: the command that "+
				"began it finishes it with --resume, at no further cost")
		}
	}
	return out
}

// LedgerOf is the ledger of a run on input: the one that --ledger names, else the one beside the
// input. It is nil if there is no input, and none is named.
func LedgerOf(named, input string) (*ledger.File, error) {
	path := named
	var err error
	switch {
	case named != "":
		path, err = LedgerAt(named)
	case IsStandard(input):
		err = Usagef("--ledger is required when the private table is standard input: there is no file " +
			"to keep the account beside")
	case input == "":
		return nil, nil
	default:
		path, err = ledgerBeside(input)
	}
	if err != nil {
		return nil, err
	}
	return ledger.NewFile(path), nil
}

// ledgerBeside is the ledger of a private file. The account belongs to the data, not to a name of
// theirs: all links, in the name and in the folders, are followed, and a file with two names of
// equal rank has no ledger until one is named.
func ledgerBeside(input string) (string, error) {
	if info, err := os.Stat(input); err == nil && info.Mode().IsRegular() && hardLinks(info) > 1 {
		return "", Usagef("%s has %d names (hard links), and a ledger beside one of them would not be "+
			"found from the others; "+
			"name one ledger for all of them with --ledger, in every run", input, hardLinks(info))
	}
	path, err := LedgerAt(Resolve(input) + ".ledger")
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(input + ".ledger"); err == nil && !SameFile(input+".ledger", path) {
		return "", Usagef("%s leads to %s, and each has a ledger beside it: what was spent on the "+
			"table is in both; ask whoever keeps the account which of them counts, and name that one with "+
			"--ledger", input, Resolve(input))
	}
	return path, nil
}

// LedgerAt is a ledger by the one name that all paths to it give, so that the files beside it are
// beside the real one: within the current folder a relative path, else an absolute one. It refuses
// what is there and cannot be a ledger, before anything waits for a pipe to be opened.
func LedgerAt(path string) (string, error) {
	real := Resolve(path)
	switch info, err := os.Lstat(real); {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fmt.Errorf("the ledger %s is a symbolic link that leads nowhere", path)
	case info.IsDir():
		return "", fmt.Errorf("the ledger %s is a directory", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the ledger %s is not a regular file", path)
	}
	if rel, err := filepath.Rel(Resolve("."), real); err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	return real, nil
}

// Limitable refuses a ledger beside a link to a table: runs would not look there, and the limit
// would hold nobody back.
func Limitable(path string) error {
	table, ok := strings.CutSuffix(path, ".ledger")
	if !ok {
		return nil
	}
	if _, err := os.Stat(table); err != nil {
		return nil
	}
	if beside := Resolve(table) + ".ledger"; beside != Resolve(path) {
		return Usagef("%s leads to %s, whose ledger is %s: that is the one to limit", table,
			Resolve(table), beside)
	}
	return nil
}
