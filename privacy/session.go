package privacy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

var (
	// ErrPlan is returned by a mechanism whose event is not, or no longer, in the session's reservation.
	ErrPlan = fmt.Errorf("not in the session's plan: %w", accountant.ErrBudget)
	// ErrRun is returned for a run whose name the ledger has already: whoever names runs cannot pay for one twice.
	ErrRun = errors.New("the ledger has this run already")
	// ErrClosed is returned by the mechanisms of a closed session.
	ErrClosed = errors.New("the session is closed")
)

// label names a mechanism call in the ledger. The type is unexported so that only a constant in the source text can be one:
// a string variable, which might hold something private, does not compile.
type label string

// Options of [Open].
type Options struct {
	Budget    accountant.Budget      // required
	Plan      accountant.Composition // required: every mechanism the session may run; it must fit the budget
	Adjacency accountant.Adjacency   // default accountant.AddRemove
	Ledger    *LedgerFile            // nil keeps the ledger in memory only: the spend is then not enforced across runs
	Method    string                 // name of the method, for the ledger
	Tool      string                 // program and version, for the ledger
	Run       string                 // the run's name in the ledger, 16 hexadecimal digits; default random. A ledger takes a name once (ErrRun)
	Resumable bool                   // [Resume] may continue the run if its process is killed: needs a Ledger; each charge is then synced to the disk
}

// Session is an open run on private rows. Its methods may be called from several goroutines.
type Session struct {
	schema *schema.Schema
	nb     Neighbours
	report table.Report
	data   func() *table.Table // behind a function, so that printing a session shows no row
	units  func() []uint32     // of each row of the file, before bounding; nil without an id column
	file   *LedgerFile
	run    string
	life   *flock.Flock // held while the run has no end; nil if it is not resumable

	mu      sync.Mutex
	src     *noise.Source
	left    *accountant.Reservation
	log     accountant.Ledger
	calls   int
	split   bool                                  // into shards
	recount func([]Marginal, []counter) [][]int64 // nil before the first selection
	closed  bool
}

// Open checks the plan against the budget and the ledger's limit, reserves the whole plan in the ledger, and only then reads the
// rows. An error before the reservation (accountant.ErrBudget, ErrLocked, ErrLedgerMismatch) has read nothing and spent nothing.
// If the rows cannot be read, the run is closed as void: no mechanism has run on it.
func Open(ctx context.Context, rows *Rows, o Options) (*Session, error) {
	if err := o.Budget.Validate(); err != nil {
		return nil, err
	}
	if err := rows.schema.Validate(); err != nil {
		return nil, err
	}
	nb := NeighboursOf(rows.schema, o.Adjacency)
	if err := fits(o.Plan, o.Budget, nb.Adjacency); err != nil {
		return nil, err
	}
	if o.Run == "" {
		o.Run = newRun()
	} else if !isRun(o.Run) {
		return nil, errors.New("privacy: the name of a run must be 16 hexadecimal digits in lower case")
	}
	s := &Session{schema: rows.schema, nb: nb, file: o.Ledger, run: o.Run, src: noise.NewSource(), left: accountant.NewReservation(o.Plan)}
	if o.Resumable {
		if o.Ledger == nil {
			return nil, errors.New("privacy: a resumable run needs a ledger file")
		}
		var err error
		if s.life, err = hold(o.Ledger.lifePath(s.run)); err != nil {
			return nil, err
		}
	}
	if err := s.reserve(ctx, o); err != nil {
		s.die()
		return nil, err
	}
	if err := rows.read(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close(accountant.StatusVoid))
	}
	return s, nil
}

// fits is an error unless the composition of the plan is within the budget.
func fits(plan accountant.Composition, b accountant.Budget, adj accountant.Adjacency) error {
	cost, err := plan.Epsilon(b.Delta, adj)
	if err != nil {
		return err
	}
	if cost.Epsilon > b.Epsilon {
		return fmt.Errorf("privacy: the plan costs epsilon %v at delta %v, the budget is %v: %w", cost.Epsilon, b.Delta, b.Epsilon, accountant.ErrBudget)
	}
	return nil
}

func newRun() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// reserve makes the one append that spends the budget.
func (s *Session) reserve(ctx context.Context, o Options) error {
	budget := o.Budget
	e := accountant.Entry{
		Time: now(), Kind: accountant.EntryReserve, Run: s.run, Adjacency: s.nb.Adjacency, Unit: s.schema.Unit,
		Budget: &budget, Composition: o.Plan, Method: o.Method, SchemaSHA256: s.fingerprint(), Tool: o.Tool,
	}
	if s.schema.Unit != "" {
		e.MaxRowsPerUnit = s.nb.MaxRowsPerUnit
	}
	s.record(openEntry(s.nb, s.schema.Unit))
	s.record(e)
	if s.file == nil {
		return nil
	}
	e.PID = os.Getpid() // stays in the file beside the data, never in a model
	e.Host, _ = os.Hostname()
	return s.file.update(ctx, s.nb, s.schema.Unit, func(l *accountant.Ledger) (accountant.Entry, error) {
		if slices.ContainsFunc(l.Entries, func(old accountant.Entry) bool { return old.Run == s.run }) {
			return e, fmt.Errorf("privacy: run %s: %w", s.run, ErrRun)
		}
		return e, l.Allows(o.Budget, o.Plan)
	})
}

// fingerprint is that of the schema; "" on texts, which have none.
func (s *Session) fingerprint() string {
	if len(s.schema.Columns) == 0 {
		return ""
	}
	return s.schema.Fingerprint()
}

// record appends to the ledger in memory, the one a model carries.
func (s *Session) record(e accountant.Entry) {
	var last accountant.Entry
	if n := len(s.log.Entries); n > 0 {
		last = s.log.Entries[n-1]
	}
	s.log.Entries = append(s.log.Entries, e.Seal(last))
}

// PoolLeft is the μ² left in the reserved accountant.Pool: a mechanism whose [accountant.PoolCost] is at most that is granted. It follows from
// the charges so far, which are public.
func (s *Session) PoolLeft() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left.PoolLeft()
}

// charge takes one event from the reservation, by its name or from the pool, and logs it; the caller holds s.mu and reads only after charge has returned nil.
func (s *Session) charge(l label, ev accountant.Event) error { return s.chargeCalls(l, ev, 1) }

// chargeCalls charges n ≥ 1 calls of one event in one line of the ledger, all of them or none.
func (s *Session) chargeCalls(l label, ev accountant.Event, n int) error {
	if s.closed {
		return fmt.Errorf("privacy: %s: %w", l, ErrClosed)
	}
	charge := accountant.Charge{Event: ev, Count: n}
	if err := s.left.Take(charge); err != nil {
		return fmt.Errorf("privacy: %s: the event %+v, called %d times, is %w", l, ev, n, ErrPlan)
	}
	s.calls += n
	e := accountant.Entry{Time: now(), Kind: accountant.EntryCharge, Run: s.run, Label: string(l), Event: &charge}
	s.record(e)
	if s.file == nil {
		return nil
	}
	return s.file.log(context.Background(), e, s.life != nil)
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close ends the run with a status (accountant.StatusDone, ...). It gives nothing back. Closing twice does nothing.
func (s *Session) Close(status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if status == accountant.StatusVoid && s.calls > 0 {
		return fmt.Errorf("privacy: a run that called %d mechanisms cannot be void", s.calls)
	}
	s.closed = true
	s.data, s.units, s.recount = nil, nil, nil
	e := accountant.Entry{Time: now(), Kind: accountant.EntryClose, Run: s.run, Status: status}
	s.record(e)
	if s.file == nil {
		return nil
	}
	err := s.file.log(context.Background(), e, true)
	if err == nil {
		s.die()
	}
	return err
}

// Ledger is a copy of this run's own ledger: its opening, reservation, charges and close. It names no host and no process.
func (s *Session) Ledger() *accountant.Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &accountant.Ledger{Entries: append([]accountant.Entry(nil), s.log.Entries...)}
}

// Schema is the public schema of the rows.
func (s *Session) Schema() *schema.Schema { return s.schema }

// Neighbours is the session's neighbouring relation.
func (s *Session) Neighbours() Neighbours { return s.nb }

// Report is what reading the file ignored; it depends on the file's header only.
func (s *Session) Report() table.Report { return s.report }

// Run is the run's name in the ledger.
func (s *Session) Run() string { return s.run }

// Format says nothing about the rows or the secret randomness, whatever the verb.
func (s *Session) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "privacy.Session(%s)", s.run) }

// MarshalText refuses.
func (s *Session) MarshalText() ([]byte, error) { return nil, errPrivate }
