package privacy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

var (
	// ErrPlan is returned by a mechanism whose event is not, or no longer, in the session's
	// reservation.
	ErrPlan = fmt.Errorf("not in the session's plan: %w", accountant.ErrBudget)
	// ErrRun is returned for a run whose name the ledger has already: whoever names runs cannot pay
	// for one twice.
	ErrRun = errors.New("the ledger has this run already")
	// ErrClosed is returned by the mechanisms of a closed session.
	ErrClosed = errors.New("the session is closed")
	// ErrResume is wrapped by every refusal to continue a run.
	ErrResume = access.ErrResume
	// ErrUnfinished is wrapped when a journal holds a run that has been paid for and has no end:
	// it is continued with Options.Resume, or given up by removing the journal.
	ErrUnfinished = errors.New("an unfinished run has been paid for")
)

// Options of [Open].
type Options struct {
	Budget accountant.Budget // required
	// required: every mechanism the session may run; it must fit the budget
	Plan      accountant.Composition
	Price     accountant.Pricer    // of the plan; default closed formulas
	Adjacency accountant.Adjacency // default accountant.AddRemove
	// nil keeps the ledger in memory only: the spend is then not enforced across runs
	Ledger *ledger.File
	Method string // name of the method, for the ledger
	Tool   string // program and version, for the ledger
	// the run's name in the ledger, 16 hexadecimal digits; default random. A ledger takes a name once
	// (ErrRun)
	Run string
	Day time.Time // of the reservation, cut to the day; default today

	// Journal is a file that keeps every answer until the run has ended, so that a run whose process
	// dies goes on with Resume; it needs a Ledger. "" keeps none. What it may hold: [Unfinished].
	Journal string
	// continue the run of the Journal: same schema, budget, plan, relation, method and Program
	Resume  bool
	Outputs []string // names of what the run is for: a run is continued for all that it was begun for
	// version and kind of machine: another one might compute other numbers from the same answers
	Program string
}

// Session is an open run on private rows. Its methods may be called from several goroutines; a run
// that is to be resumed must call them in an order that its answers alone decide. A copy of a
// Session is the same session.
type Session struct{ *session }

type session struct {
	*paying
	view   string         // of linked tables; "": the rows that were opened
	schema *schema.Schema // of the rows that it counts
	nb     Neighbours
	in     access.Rows // behind functions, so that printing a session shows no row
}

// paying is what a session shares with its views.
type paying struct {
	report table.Report
	file   *ledger.File
	run    string
	all    []*session // the session that was opened, and its views
	print  string     // fingerprint of the schema; "" of texts
	units  ledger.Units

	mu      sync.Mutex
	src     *noise.Source
	left    *accountant.Reservation
	lines   []ledger.Entry // of this run, in the ledger's file
	journal *journal       // nil: none
	earlier []ledger.Entry // answers of an earlier process, to be asked for again
	outputs string         // hash of what it delivers
	held    bool           // into shards
	dead    error          // of a call that drew and did not return
	closed  bool
}

// Open looks at what is public of the table (that it is there, and its columns), checks the plan
// against the budget and the ledger's limit, reserves the whole plan in the ledger, and only then
// reads the rows. An error before the reservation has read no row and spent nothing. If a disk, a
// server or the caller's context fails after it, the budget stays spent: a run with a journal can
// be continued, one without is closed as failed or cancelled.
//
// With Options.Resume it continues the run of the journal instead: mechanisms return what the
// journal holds, as long as they are asked the same questions in the same order, and draw from
// there on. The rows are read anew, and those kept of each unit drawn anew. Refusals wrap
// [ErrResume], spend nothing and leave the run as it is. Without it, a journal that holds an
// unfinished run is refused ([ErrUnfinished]): it would be paid for twice.
func Open(ctx context.Context, r *Rows, o Options) (*Session, error) {
	// taken before o.Price, which is foreign: what that does to the caller's comes too late
	from := r.from
	s := &session{paying: &paying{}, schema: r.schema, nb: NeighboursOf(r.schema, o.Adjacency)}
	s.all, s.units = []*session{s}, s.nb.Units(s.schema.Unit)
	if !from.Texts {
		yaml, err := from.Tables.YAML()
		if err != nil {
			return nil, err
		}
		s.print = hashOf("", yaml)
	}
	paid := false
	begin := func() error {
		err := s.begin(ctx, o)
		paid = err == nil
		return err
	}
	bound := func(units []uint32) []int { // how many rows a unit had is kept: ContributionHistogram
		s.in.Units = func() []uint32 { return units }
		return boundUnits(units, s.nb.MaxRowsPerUnit, s.src)
	}
	// nothing is called meanwhile: that would tell how long the file is
	quiet, stop := access.Deaf(ctx)
	defer stop()
	read, err := from.Load(quiet, begin, bound)
	t := read.Table
	if s.in.Joint, s.report = read.Joint, read.Report; err == nil && t != nil && s.schema.Unit != "" {
		if units := t.Units(); units == nil && t.Rows() > 0 {
			err = fmt.Errorf("the table has no unit column: %w", schema.ErrSchema)
		} else if keep := bound(units); len(keep) < len(units) {
			t = t.Select(keep)
		}
	}
	switch {
	case err == nil && !paid:
		return nil, errors.New("rows were read before they were paid for")
	case err != nil && paid:
		return nil, s.Finish(err, nil)
	case err != nil:
		return nil, err
	}
	if s.in.Source = s.src; t != nil {
		s.in.Table = func() *table.Table { return t }
	}
	s.in.Counts = counter(s.in)
	return &Session{s}, nil
}

// begin pays: it reserves, or takes an earlier process's reservation over.
func (s *session) begin(ctx context.Context, o Options) error {
	o.Plan = slices.Clone(o.Plan)
	if err := o.Budget.Validate(); err != nil {
		return err
	}
	cost, err := o.Price.Epsilon(slices.Clone(o.Plan), o.Budget.Delta, s.nb.Adjacency)
	if err != nil {
		return err
	}
	if !(cost.Epsilon <= o.Budget.Epsilon) { // nor NaN
		return fmt.Errorf("the plan costs epsilon %v at delta %v, the budget is %v: %w",
			cost.Epsilon, o.Budget.Delta, o.Budget.Epsilon, accountant.ErrBudget)
	}
	if o.Run == "" {
		var id [8]byte
		rand.Read(id[:])
		o.Run = hex.EncodeToString(recorded("", "name of a run", id[:]))
	} else if !isRun(o.Run) {
		return errors.New("the name of a run must be 16 hexadecimal digits in lower case")
	}
	if o.Day.IsZero() {
		o.Day = time.Now()
	}
	o.Day = o.Day.UTC().Truncate(24 * time.Hour)
	s.file, s.run, s.src, s.left = o.Ledger, o.Run, noise.NewSource(),
		accountant.NewReservation(o.Plan)
	if o.Journal == "" {
		if o.Resume {
			return fmt.Errorf("there is no journal: %w", ErrResume)
		}
		return s.reserve(ctx, o)
	}
	return s.withJournal(ctx, o)
}

// isRun reports whether the name is one that begin makes, and so safe in a file's name.
func isRun(run string) bool {
	return len(run) == 16 && strings.Trim(run, "0123456789abcdef") == ""
}

// Left is what is left of the reservation. It follows from the charges so far, which are public.
func (s *session) Left() accountant.Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left.Left()
}

// Finish ends the session of a fit that returned err, and lets go of all that is private. Without
// an error it has the result delivered, nil: nowhere, and then closes the run as done and removes
// its journal: deliver must make the output durable. A run with a journal that does not get so far
// can be continued; one without is closed as what it is. No budget comes back. Twice is as once.
func (s *session) Finish(err error, deliver func() error) error {
	if err == nil && deliver != nil {
		err = deliver()
	}
	status := ledger.StatusDone
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		status = ledger.StatusCancelled
	} else if err != nil {
		status = ledger.StatusFailed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return err
	}
	if err == nil && s.journal != nil && (s.dead != nil || len(s.earlier) > 0) {
		err = fmt.Errorf("run %s has not come to its end: %w", s.run,
			errors.Join(s.dead, ErrUnfinished))
	}
	s.closed = true
	for _, one := range s.all {
		one.in = access.Rows{}
	}
	s.earlier = nil
	if err == nil || s.journal == nil {
		last := ledger.Entry{Kind: ledger.EntryClose, Run: s.run, Status: status, Outputs: s.outputs}
		failed := s.append([]ledger.Entry{last}, true)
		if failed == nil {
			s.journal.remove()
		}
		err = errors.Join(err, failed)
	}
	s.journal.leave()
	return err
}

// Schema is a copy of the public schema of the rows that the session counts.
func (s *session) Schema() *schema.Schema { return s.schema.Clone() }

// Neighbours is the session's neighbouring relation.
func (s *session) Neighbours() Neighbours { return s.nb }

// Report is what reading the file ignored; it depends on the file's header only.
func (s *session) Report() table.Report { return s.report }

// Run is the run's name in the ledger.
func (s *session) Run() string { return s.run }

// Format says nothing about the rows or the secret randomness, whatever the verb.
func (s *session) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "privacy.Session(%s)", s.run) }

// MarshalText refuses.
func (s *session) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }
