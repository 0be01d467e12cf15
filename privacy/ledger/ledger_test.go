package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var (
	noon   = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	small  = plan(charge(gaussian(10), 3), charge(exponential(.05), 2))
	budget = *spend(1.5, 1e-9)
)

func gaussian(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }

func exponential(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

func laplace(epsilon float64) accountant.Event { return accountant.Laplace{Epsilon: epsilon} }

func pool(mu float64) accountant.Event { return accountant.GDPFilter{Mu: mu} }

func subsampled(q, z float64) accountant.Event {
	return accountant.SubsampledGaussian{Rate: q, NoiseMultiplier: z}
}

func charge(e accountant.Event, count int) *accountant.Charge {
	return &accountant.Charge{Event: e, Count: count}
}

func plan(charges ...*accountant.Charge) (c accountant.Composition) {
	for _, charge := range charges {
		c = append(c, *charge)
	}
	return c
}

func spend(epsilon, delta float64) *accountant.Budget {
	return &accountant.Budget{Epsilon: epsilon, Delta: delta}
}

func openLine() Entry {
	return Entry{Time: noon, Kind: EntryOpen, Adjacency: accountant.AddRemove, Unit: "patient",
		MaxRowsPerUnit: 2}
}

func reserveLine(run string) Entry {
	b := budget
	return Entry{Time: noon, Kind: EntryReserve, Run: run, Adjacency: accountant.AddRemove,
		Unit: "patient", MaxRowsPerUnit: 2, Budget: &b, Composition: small,
		Method: "mst", SchemaSHA256: strings.Repeat("ab", 32), Tool: "decoy"}
}

func chargeLine(run string, e accountant.Event, count int) Entry {
	return Entry{Time: noon, Kind: EntryCharge, Run: run, Label: "one-way", Event: charge(e, count)}
}

func closeLine(run, status string) Entry {
	return Entry{Time: noon, Kind: EntryClose, Run: run, Status: status}
}

func limitLine(b accountant.Budget, rule Rule) Entry {
	return Entry{Time: noon, Kind: EntryLimit, Budget: &b, Rule: rule}
}

// good is a ledger with every kind of entry and nothing wrong.
func good() []Entry {
	return []Entry{
		openLine(), limitLine(*spend(4.5, 3e-9), RuleBasic),
		reserveLine("a"), chargeLine("a", gaussian(10), 1), chargeLine("a", exponential(.05), 2),
		chargeLine("a", gaussian(10), 2), closeLine("a", StatusDone),
		reserveLine("b"), reserveLine("c"), chargeLine("c", gaussian(10), 1),
		closeLine("b", StatusCancelled), closeLine("c", StatusFailed),
	}
}

// seal chains the entries.
func seal(entries []Entry) *Ledger {
	l, prev := &Ledger{}, Entry{}
	for _, e := range entries {
		prev = e.Seal(prev)
		l.Entries = append(l.Entries, prev)
	}
	return l
}

// lines is the file of a ledger.
func lines(t testing.TB, l *Ledger) string {
	t.Helper()
	var buf bytes.Buffer
	for _, e := range l.Entries {
		b := stattest.Must(encode(e))
		buf.Write(append(b, '\n'))
	}
	return buf.String()
}

func TestLedgerRoundTrip(t *testing.T) {
	l := seal(good())
	text := lines(t, l)
	back := stattest.Must(Parse(strings.NewReader(text)))
	if got := lines(t, back); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	stattest.Passes(t, back.Verify(nil), "")
	empty, err := Parse(strings.NewReader(""))
	if err != nil || len(empty.Entries) != 0 {
		t.Errorf("an empty file: %v, %v", empty, err)
	}
	stattest.Wraps(t, empty.Verify(nil), ErrInvalid, "an empty ledger")
}

// The bytes of a line are an interface: other programs hash them too.
func TestLedgerFormat(t *testing.T) {
	l := seal([]Entry{openLine(), reserveLine("a")})
	want := `{"seq":0,"time":"2026-05-04T12:00:00Z","kind":"open","adjacency":"add-remove","unit":"patient","max_rows_per_unit":2,"prev":"","hash":"` + l.Entries[0].Hash + `"}
{"seq":1,"time":"2026-05-04T12:00:00Z","kind":"reserve","run":"a","adjacency":"add-remove","unit":"patient","max_rows_per_unit":2,"budget":{"epsilon":1.5,"delta":1e-9},` +
		`"composition":[{"event":"gaussian","noise_multiplier":10,"count":3},{"event":"exponential","epsilon":0.05,"count":2}],"method":"mst","schema_sha256":"` + strings.Repeat(
		"ab",
		32,
	) +
		`","tool":"decoy","prev":"` + l.Entries[0].Hash + `","hash":"` + l.Entries[1].Hash + `"}
`
	if got := lines(t, l); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// SHA-256 of the first line without its hash, computed with sha256sum.
	const first = "5970184100f9c30cc227e2456e0dfda8be5652e477061caaa4c3d975f28cd5d8"
	if want := first; l.Entries[0].Hash != want {
		t.Errorf("hash %s, want %s", l.Entries[0].Hash, want)
	}
}

// Each edit of a good ledger, sealed again by a forger who knows the format, must be found by
// Verify.
func TestVerify(t *testing.T) {
	edit := func(i int, change func(e *Entry)) func([]Entry) []Entry {
		return func(es []Entry) []Entry {
			change(&es[i])
			return es
		}
	}
	insert := func(i int, e Entry) func([]Entry) []Entry {
		return func(es []Entry) []Entry {
			return append(es[:i:i], append([]Entry{e}, es[i:]...)...)
		}
	}
	less := *spend(.5, 1e-9)
	for _, row := range []struct {
		name, want string
		change     func([]Entry) []Entry
	}{
		{"no opening entry", "one opening entry", func(es []Entry) []Entry { return es[1:] }},
		{"second open", "one opening entry", insert(5, openLine())},
		{"negative budget", "must be positive", edit(2, func(e *Entry) { e.Budget = spend(-1, 0) })},
		{"open without adjacency", "adjacency", edit(0, func(e *Entry) { e.Adjacency = 0 })},
		{"run id unknown", "never reserved", insert(8, chargeLine("z", gaussian(10), 1))},
		{"close of an unknown run", "never reserved", insert(8, closeLine("z", StatusDone))},
		{"charge before its reservation", "never reserved", insert(2, chargeLine("a", gaussian(10), 1))},
		{"charge of another event", "more of an event than it reserved",
			edit(3, func(e *Entry) { e.Event = charge(gaussian(9), 1) })},
		{"charge of another kind", "more of an event than it reserved",
			edit(3, func(e *Entry) { e.Event = charge(laplace(10), 1) })},
		{"charged more often than reserved", "more of an event than it reserved",
			edit(5, func(e *Entry) { e.Event = charge(gaussian(10), 3) })},
		{"charged in the name of another run", "more of an event than it reserved",
			func(es []Entry) []Entry {
				es[9].Event = charge(gaussian(10), 4)
				return es
			}},
		{"an unknown run continued", "never reserved", insert(8, Entry{Time: noon, Kind: EntryResume,
			Run: "z"})},
		{"continued after its end", "closed already", insert(7, Entry{Time: noon, Kind: EntryResume,
			Run: "a"})},
		{"charge without an event", "without an event", edit(3, func(e *Entry) { e.Event = nil })},
		{"charge after close", "closed already", insert(7, chargeLine("a", gaussian(10), 1))},
		{"closed twice", "closed already", insert(7, closeLine("a", StatusDone))},
		{"unknown status", "unknown status", edit(6, func(e *Entry) { e.Status = "refunded" })},
		{"charge of a cancelled run", "closed already", insert(11, chargeLine("b", gaussian(10), 1))},
		{"reserved twice", "reserved twice", edit(7, func(e *Entry) { e.Run = "a" })},
		{"run without a name", "empty", edit(7, func(e *Entry) { e.Run = "" })},
		{"reservation without a budget", "without a budget", edit(2, func(e *Entry) { e.Budget = nil })},
		{"reservation with δ = 0.1", "from 0 to", edit(2, func(e *Entry) { e.Budget = spend(1, .1) })},
		{"claimed budget smaller than the cost", "costs epsilon",
			edit(2, func(e *Entry) { e.Budget = &less })},
		{"composition larger than the budget", "costs epsilon", edit(2, func(e *Entry) {
			e.Composition = plan(charge(gaussian(10), 300), charge(exponential(.05), 2))
		})},
		{"cost not finite at its δ", "no finite epsilon", edit(2, func(e *Entry) {
			e.Budget = spend(1.5,
				0)
		})},
		{"other adjacency", "other neighbours",
			edit(2, func(e *Entry) { e.Adjacency = accountant.ReplaceOne })},
		{"other unit", "other neighbours", edit(2, func(e *Entry) { e.Unit = "visit" })},
		{"limit exceeded in ε", "would exceed", edit(1, func(e *Entry) { e.Budget = spend(4.4, 3e-9) })},
		{"limit exceeded in δ", "would exceed", edit(1, func(e *Entry) {
			e.Budget = spend(4.5,
				2.9e-9)
		})},
		{"limit exceeded in ρ", "would bring epsilon", edit(1, func(e *Entry) {
			e.Budget, e.Rule = spend(.5,
				1e-9), RuleZCDP
		})},
		{"limit lowered on the way", "would exceed", insert(8, limitLine(*spend(4.4, 3e-9), RuleBasic))},
		{"limit without a budget", "without a budget", edit(1, func(e *Entry) { e.Budget = nil })},
		{"limit with a bad budget", "positive and finite", edit(1, func(e *Entry) {
			e.Budget = spend(0,
				1e-9)
		})},
		{"limit with an unknown rule", "unknown rule", edit(1, func(e *Entry) { e.Rule = "renyi" })},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := seal(row.change(good()))
			err := l.Verify(nil)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
	// What must pass: a limit that is raised, no limit, a limit without a rule, an open run.
	for name, change := range map[string]func([]Entry) []Entry{
		"limit raised":   insert(7, limitLine(*spend(9, 9e-9), RuleBasic)),
		"zcdp limit":     edit(1, func(e *Entry) { e.Rule = RuleZCDP }),
		"default rule":   edit(1, func(e *Entry) { e.Rule = "" }),
		"continued run":  insert(5, Entry{Time: noon, Kind: EntryResume, Run: "a", Tool: "decoy"}),
		"no limit":       func(es []Entry) []Entry { return append(es[:1:1], es[2:]...) },
		"unfinished run": func(es []Entry) []Entry { return es[:10] },
		"tight limit after the spending": func(es []Entry) []Entry {
			return append(es, limitLine(*spend(.1, 1e-9), RuleBasic))
		},
	} {
		stattest.Passes(t, seal(change(good())).Verify(nil), "%s", name)
	}
}

// Every change of the file without sealing again breaks the chain, in Parse and in Verify.
func TestChain(t *testing.T) {
	text := strings.SplitAfter(lines(t, seal(good())), "\n")
	text = text[:len(text)-1]
	for _, row := range []struct {
		name string
		line int
		make func(ls []string) []string
	}{
		{"edited entry", 8, func(ls []string) []string {
			ls[7] = strings.Replace(ls[7], "1.5", "1.4", 1)
			return ls
		}},
		{"edited hash", 3, func(ls []string) []string {
			ls[2] = strings.Replace(ls[2], `"hash":"`,
				`"hash":"0`, 1)
			return ls
		}},
		{"removed line", 5, func(ls []string) []string { return append(ls[:4:4], ls[5:]...) }},
		{"removed first line", 1, func(ls []string) []string { return ls[1:] }},
		{"swapped lines", 4, func(ls []string) []string { ls[3], ls[4] = ls[4], ls[3]; return ls }},
		{"repeated line", 5, func(ls []string) []string { return append(ls[:4:4], ls[3:]...) }},
		{"unknown key", 1, func(ls []string) []string {
			ls[0] = strings.Replace(ls[0], `{`, `{"x":1,`,
				1)
			return ls
		}},
		{"repeated key", 1, func(ls []string) []string {
			ls[0] = strings.Replace(ls[0], `{`, `{"seq":0,`,
				1)
			return ls
		}},
		{"key in capitals", 1, func(ls []string) []string {
			ls[0] = strings.Replace(ls[0], `"seq"`,
				`"Seq"`, 1)
			return ls
		}},
		{"a space", 2, func(ls []string) []string {
			ls[1] = strings.Replace(ls[1], `":`, `": `,
				1)
			return ls
		}},
		{"CRLF", 2, func(ls []string) []string {
			ls[1] = strings.Replace(ls[1], "\n", "\r\n",
				1)
			return ls
		}},
		{"empty line", 3, func(ls []string) []string {
			return append(ls[:2:2], append([]string{"\n"},
				ls[2:]...)...)
		}},
		{"two values on a line", 2, func(ls []string) []string {
			ls[1] = strings.Replace(ls[1], "\n",
				" {}\n", 1)
			return ls
		}},
		{"unknown kind", 2, func(ls []string) []string {
			ls[1] = strings.Replace(ls[1], `"limit"`,
				`"gift"`, 1)
			return ls
		}},
		{"unknown event", 3, func(ls []string) []string {
			ls[2] = strings.Replace(ls[2], `"gaussian"`,
				`"cauchy"`, 1)
			return ls
		}},
		{"not JSON", 1, func(ls []string) []string { return []string{"hello\n"} }},
		{"null", 1, func(ls []string) []string { return []string{"null\n"} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(strings.Join(row.make(append([]string(nil), text...)), "")))
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), fmt.Sprintf("line %d:",
				row.line)) {
				t.Errorf("%v, want ErrInvalid in line %d", err, row.line)
			}
		})
	}
	for name, change := range map[string]func(l *Ledger){
		"edited":  func(l *Ledger) { l.Entries[3].Label = "other" },
		"seq":     func(l *Ledger) { l.Entries[3].Seq++ },
		"prev":    func(l *Ledger) { l.Entries[3].Prev = "" },
		"hash":    func(l *Ledger) { l.Entries[3].Hash = strings.Repeat("0", 64) },
		"removed": func(l *Ledger) { l.Entries = append(l.Entries[:3:3], l.Entries[4:]...) },
		"event":   func(l *Ledger) { l.Entries[3].Event = &accountant.Charge{} },
	} {
		l := seal(good())
		change(l)
		if err := l.Verify(nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(),
			"entry 3:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTornLine(t *testing.T) {
	text := lines(t, seal(good()))
	last := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	for cut := last + 1; cut < len(text); cut += 17 {
		l, err := Parse(strings.NewReader(text[:cut]))
		if !errors.Is(err, ErrTorn) || errors.Is(err,
			ErrInvalid) || l == nil || len(l.Entries) != len(good())-1 {
			t.Fatalf("cut at %d: %v, %v", cut, l, err)
		}
		stattest.Check(t, l.Verify(nil))
	}
	stattest.Wraps(t, stattest.Err(Parse(strings.NewReader(`{"seq":0,"ti`))), ErrTorn, "")
	failing := errors.New("disk")
	if _, err := Parse(io.MultiReader(strings.NewReader(text[:100]), readerFunc(func([]byte) (int,
		error) {
		return 0, failing
	}))); !errors.Is(err, failing) {
		t.Error(err)
	}
	endless := readerFunc(func(p []byte) (int, error) { return len(p), nil })
	stattest.Wraps(t, stattest.Err(Parse(endless)), ErrInvalid, "")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// What Seal makes can be written and read back, whatever the text and the time zone.
func TestSealNormalises(t *testing.T) {
	e := openLine()
	e.Time = time.Now().In(time.FixedZone("x", 3*3600))
	e.Unit, e.Tool = "a\xffb", "<&>\u2028"
	l := seal([]Entry{e})
	back := stattest.Must(Parse(strings.NewReader(lines(t, l))))
	if got := back.Entries[0]; got.Unit != "a\uFFFDb" || got.Tool != "<&>\u2028" ||
		!got.Time.Equal(e.Time) {
		t.Errorf("%+v", got)
	}
	bad := chargeLine("a", gaussian(math.NaN()), 1).Seal(l.last())
	l.Entries = append(l.Entries, bad)
	if err := l.Verify(nil); bad.Hash != "" || !errors.Is(err, ErrInvalid) {
		t.Errorf("an invalid event was sealed: %+v, %v", bad, err)
	}
}

func TestRuns(t *testing.T) {
	l := seal(good())
	runs := l.Runs()
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	want := []struct {
		run, status string
		charged     int
	}{{"a", StatusDone, 5}, {"b", StatusCancelled, 0}, {"c", StatusFailed, 1}}
	for i, w := range want {
		r, n := runs[i], 0
		for _, c := range r.Charged {
			n += c.Count
		}
		if r.Run != w.run || r.Status != w.status || n != w.charged || r.Method != "mst" ||
			r.Budget != budget || len(r.Reserved) != 2 || !r.Time.Equal(noon) {
			t.Errorf("run %d: %+v", i, r)
		}
	}
	if got := runs[0].Charged; len(got) != 2 || got[0] != small[0] || got[1] != small[1] {
		t.Errorf("charges of one event are not joined: %v", got)
	}
	if got := seal(good()[:10]).Runs()[1].Status; got != StatusUnfinished {
		t.Errorf("open run: %s", got)
	}
	if got := l.Spent(); got != *spend(4.5, 3e-9) {
		t.Errorf("spent %v: three runs", got)
	}
	limit, ok := l.LimitInForce()
	if !ok || *limit.Budget != *spend(4.5, 3e-9) {
		t.Errorf("limit %v, %v", limit, ok)
	}
	if _, ok := seal([]Entry{openLine()}).LimitInForce(); ok {
		t.Error("a limit out of nothing")
	}
	l = seal(append(good(), limitLine(*spend(7, 1e-8), RuleBasic)))
	if limit, _ := l.LimitInForce(); limit.Budget.Epsilon != 7 {
		t.Errorf("newest limit: %v", limit)
	}
}

func TestAllows(t *testing.T) {
	// spent returns a ledger with a limit and n runs at b.
	spent := func(limit accountant.Budget, rule Rule, b accountant.Budget, n int) *Ledger {
		es := []Entry{openLine(), limitLine(limit, rule)}
		for i := range n {
			e := reserveLine(fmt.Sprint(i))
			e.Budget = &b
			es = append(es, e)
		}
		return seal(es)
	}
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	for _, row := range []struct {
		name string
		l    *Ledger
		b    accountant.Budget
		want error
	}{
		{"no limit", seal([]Entry{openLine()}), *spend(1e6, 1e-3), nil},
		{"three tenths fit", spent(*spend(.3, 3e-9), RuleBasic, *spend(.1, 1e-9), 2), *spend(.1, 1e-9),
			nil},
		{"one ulp of ε too much", spent(*spend(.3, 3e-9), RuleBasic, *spend(.1, 1e-9), 2), *spend(up(.1),
			1e-9), accountant.ErrBudget},
		{"one ulp of δ too much", spent(*spend(.3, 3e-9), RuleBasic, *spend(.1, 1e-9), 2),
			*spend(.1, up(1e-9)), accountant.ErrBudget},
		{"a fourth tenth", spent(*spend(.3, 3e-9), RuleBasic, *spend(.1, 1e-9), 3), *spend(1e-300, 0),
			accountant.ErrBudget},
		{"nothing spent", spent(*spend(1, 1e-9), RuleBasic, budget, 0), *spend(1, 1e-9), nil},
		{"nothing spent, too much asked", spent(*spend(1, 1e-9), RuleBasic, budget, 0), *spend(up(1),
			1e-9), accountant.ErrBudget},
	} {
		stattest.Wraps(t, row.l.replayed().allows(row.b, small), row.want, "%s", row.name)
	}

	// ρ of a limit of (1, 1e-9), filled to the last ulp.
	limit := *spend(1, 1e-9)
	rho := stattest.Must(accountant.RhoFor(limit))
	cost := func(rho float64) accountant.Composition {
		return plan(charge(exponential(math.Sqrt(8*rho)), 1))
	}
	used := seal([]Entry{openLine(), limitLine(limit, RuleZCDP), func() Entry {
		e := reserveLine("a")
		e.Composition = cost(rho / 2)
		return e
	}()})
	for _, row := range []struct {
		name string
		c    accountant.Composition
		want error
	}{
		{"half of ρ", cost(rho / 2 * (1 - 1e-12)), nil},
		{"half of ρ and a little", cost(rho / 2 * (1 + 1e-11)), accountant.ErrBudget},
		{"no ρ is a refusal", plan(charge(subsampled(.1, 5), 1)), accountant.ErrBudget},
	} {
		stattest.Wraps(t, used.replayed().allows(budget, row.c), row.want, "%s", row.name)
	}
	// However a run ends, it gives nothing back.
	for _, status := range []string{StatusFailed, StatusCancelled, StatusDone} {
		for _, rule := range []Rule{RuleBasic, RuleZCDP} {
			l := seal([]Entry{openLine(), limitLine(*spend(1.5, 1e-9), rule), reserveLine("a"),
				closeLine("a", status)})
			c := small
			if rule == RuleZCDP {
				r, _ := accountant.RhoFor(*spend(1.5, 1e-9))
				c = cost(r * (1 - 1e-9))
			}
			stattest.Wraps(t, l.replayed().allows(budget, c), accountant.ErrBudget, "%s under %s", status,
				rule)
		}
	}
}

// TestLimitOfRuns: a limit on the number of runs refuses the next one whatever it costs.
func TestLimitOfRuns(t *testing.T) {
	wide := *spend(1000, 1e-3)
	limited := func(n int) Entry {
		e := limitLine(wide, RuleBasic)
		e.MostRuns = n
		return e
	}
	two := []Entry{reserveLine("a"), closeLine("a", StatusFailed), reserveLine("b")}
	for _, c := range []struct {
		ok      bool
		entries []Entry
	}{
		{ok: true, entries: append([]Entry{openLine(), limitLine(wide, RuleBasic)}, two...)},
		{ok: true, entries: append([]Entry{openLine(), limited(2)}, two...)},
		{ok: false, entries: append([]Entry{openLine(), limited(2)}, append(two, reserveLine("c"))...)},
		{ok: true, entries: append([]Entry{openLine(), limited(3)}, append(two, reserveLine("c"))...)},
		// those before the limit count
		{ok: false, entries: append(append([]Entry{openLine()}, two...), limited(2), reserveLine("c"))},
		// a newer limit holds, and one of 0 is of any number
		{ok: true, entries: append(append([]Entry{openLine(), limited(2)}, two...), limited(3),
			reserveLine("c"))},
		{ok: true, entries: append(append([]Entry{openLine(), limited(2)}, two...),
			limitLine(wide, RuleBasic), reserveLine("c"), reserveLine("d"))},
	} {
		err := seal(c.entries).Verify(nil)
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.entries, err)
		}
	}
	// a file refuses it as it does a budget
	f := NewFile(filepath.Join(t.TempDir(), "a.ledger"))
	put := func(e Entry) error {
		u := Units{Adjacency: accountant.AddRemove, Unit: "patient", MaxRowsPerUnit: 2}
		return f.Append(t.Context(), u, false, func(*Ledger) ([]Entry, error) { return []Entry{e}, nil })
	}
	stattest.Check(t, errors.Join(put(limited(2)), put(reserveLine("a")), put(reserveLine("b"))))
	stattest.Wraps(t, put(reserveLine("c")), accountant.ErrBudget, "the third of two runs")
}

// endless is a reader of one letter.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestLedgerBounds: a ledger without end, and a line without end, take little memory; so does a
// list of entries inside another file, and no composition keeps a verifier busy for hours.
func TestLedgerBounds(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Parse(endless{}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(),
		"longer than 268435456 bytes") {
		t.Errorf("a file without end: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 2000 {
		t.Errorf("%d MiB", used)
	}
	wide := reserveLine("a")
	wide.Composition = nil
	for i := range maxDistinct + 1 {
		wide.Composition = append(wide.Composition, *charge(subsampled(.01+1e-6*float64(i), 50), 1))
	}
	began := time.Now()
	if err := seal([]Entry{openLine(), wide}).Verify(nil); !errors.Is(err, ErrInvalid) ||
		!strings.Contains(err.Error(), "129 different events") {
		t.Errorf("a reservation of %d events: %v", len(wide.Composition), err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("that took %v", took)
	}
}

// No input makes the parser panic; what it accepts is written back byte for byte, and Verify does
// not panic on it.
func FuzzParseLedger(f *testing.F) {
	text := lines(f, seal(good()))
	f.Add([]byte(text))
	f.Add([]byte(text[:len(text)-20]))
	f.Add([]byte(strings.Replace(text, "gaussian", "laplace", 1)))
	f.Add([]byte("{}\n"))
	f.Add([]byte("null\n[]\n"))
	f.Add([]byte(lines(f, seal([]Entry{openLine(), {Kind: EntryCharge, Run: "\"\u2028",
		Event: charge(accountant.Event(accountant.Approx{Delta: .5}), 1<<40)}}))))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTorn) {
			t.Fatalf("unexpected error %v", err)
		}
		if l == nil {
			return
		}
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		if got := lines(t, l); got != string(whole) {
			t.Fatalf("got  %q\nwant %q", got, whole)
		}
		if l.Verify(nil) == nil && len(l.Runs()) > 0 {
			l.Spent()
		}
	})
}

// TestOtherFilesAreNotTorn: a file of one line without a newline is no ledger whose first line is
// torn, and is left as it was.
func TestOtherFilesAreNotTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	for _, text := range []string{"precious text", `{"a": 1}`, "{", `{"seq":0`} {
		stattest.Check(t, os.WriteFile(path, []byte(text), 0o600))
		f := NewFile(path)
		none := func(*Ledger) ([]Entry, error) { return nil, nil }
		err := f.Append(t.Context(), Units{Adjacency: accountant.AddRemove}, true, none)
		torn := strings.HasPrefix(`{"seq":0`, text)
		got, _ := os.ReadFile(path)
		if torn == errors.Is(err, ErrInvalid) || !torn && string(got) != text {
			t.Errorf("%q: %v, now %q", text, err, got)
		}
	}
}

// TestPricesOfBefore: numeric prices above ε = 10⁴ were a part in 10⁵ lower once, of noise that
// hides nothing. Such a ledger verifies; one whose price means something is held to it.
func TestPricesOfBefore(t *testing.T) {
	for epsilon, ok := range map[float64]bool{5: false, 2e13: true} {
		e := reserveLine("a")
		e.Budget, e.Composition = spend(epsilon, 1e-9), plan(charge(subsampled(.5, 1e-7), 1))
		err := seal([]Entry{openLine(), e}).Verify(func(
			accountant.Composition, float64, accountant.Adjacency,
		) (accountant.Bound, error) {
			return accountant.Bound{Epsilon: epsilon * (1 + 5e-6)}, nil
		})
		if (err == nil) != ok {
			t.Errorf("epsilon %v: %v", epsilon, err)
		}
	}
}
