package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

type pair struct {
	public minisign.PublicKey
	secret minisign.PrivateKey
}

func newPair(t *testing.T) (p pair) {
	t.Helper()
	var err error
	if p.public, p.secret, err = minisign.GenerateKey(nil); err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	units = ledger.Units{Adjacency: accountant.AddRemove}
	cost  = accountant.Composition{{Event: accountant.Exponential{Epsilon: .5}, Count: 1}}
)

// run is a reservation of one run, of ε = 1.
func run(name string) ledger.Entry {
	return ledger.Entry{Kind: ledger.EntryReserve, Run: name, Adjacency: units.Adjacency,
		Budget: &accountant.Budget{Epsilon: 1}, Composition: cost}
}

// file is a ledger: a run, a limit, a second run, a lower limit, both signed by officer.
func file(t *testing.T, officer pair) *ledger.File {
	t.Helper()
	f := ledger.NewFile(filepath.Join(t.TempDir(), "ledger"))
	stattest.Check(t, reserve(t, f, "a"))
	stattest.Check(t, set(t, f, 9, &officer))
	stattest.Check(t, reserve(t, f, "b"))
	stattest.Check(t, set(t, f, 3, &officer))
	return f
}

func reserve(t *testing.T, f *ledger.File, name string) error {
	return f.Append(t.Context(), units, true, func(*ledger.Ledger) ([]ledger.Entry, error) {
		return []ledger.Entry{run(name)}, nil
	})
}

// set sets a limit, signed by the pair unless it is nil.
func set(t *testing.T, f *ledger.File, epsilon float64, by *pair) error {
	l := ledger.Limit{Budget: accountant.Budget{Epsilon: epsilon}}
	if by == nil {
		return ledger.SetLimit(t.Context(), f, units, l)
	}
	return ledger.SetSignedLimit(t.Context(), f, units, l, by.secret, by.public)
}

// signed signs a limit anew, as another program might.
func signed(e ledger.Entry, by pair, next pair) ledger.Entry {
	e.Key, e.Hash, e.Signature = next.public.String(), "", ""
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	e.Signature = string(minisign.Sign(by.secret, text))
	return e
}

// sealed makes a chain of entries, as anybody can who may write the file.
func sealed(es []ledger.Entry) *ledger.Ledger {
	var last ledger.Entry
	l := &ledger.Ledger{}
	for _, e := range es {
		last = e.Seal(last)
		l.Entries = append(l.Entries, last)
	}
	return l
}

// TestTampering: who can write the file and has not the key changes nothing of a limit, nor of
// what was spent before it. The hashes are all made anew.
func TestTampering(t *testing.T) {
	officer, other := newPair(t), newPair(t)
	f := file(t, officer)
	l := stattest.Must(f.Read())
	stattest.Check(t, l.Verify(nil))
	foreign := stattest.Must(file(t, officer).Read())
	const open, a, first, b, second = 0, 1, 2, 3, 4
	edit := func(i int, f func(*ledger.Entry)) func([]ledger.Entry) []ledger.Entry {
		return func(es []ledger.Entry) []ledger.Entry { f(&es[i]); return es }
	}
	signedAnew := func(i int, f func(*ledger.Entry)) func([]ledger.Entry) []ledger.Entry {
		return func(es []ledger.Entry) []ledger.Entry {
			f(&es[i])
			es = sealed(es).Entries
			es[i] = signed(es[i], other, other)
			return es
		}
	}
	raise := func(e *ledger.Entry) { e.Budget = &accountant.Budget{Epsilon: 100} }
	for _, c := range []struct {
		name   string
		change func([]ledger.Entry) []ledger.Entry
	}{
		{"a higher limit", edit(second, raise)},
		{"a higher limit that a lower one follows", edit(first, raise)},
		{"another rule", edit(second, func(e *ledger.Entry) { e.Rule = ledger.RuleZCDP })},
		{"more runs", edit(second, func(e *ledger.Entry) { e.MostRuns = 1 << 20 })},
		{"another day", edit(second, func(e *ledger.Entry) { e.Time = e.Time.AddDate(0, 0, 1) })},
		{"no signature", edit(second, func(e *ledger.Entry) { e.Signature = "" })},
		{"no key", edit(second, func(e *ledger.Entry) { e.Key = "" })},
		{"neither", edit(second, func(e *ledger.Entry) { e.Key, e.Signature = "", "" })},
		{"no signature of the first", edit(first, func(e *ledger.Entry) { e.Signature = "" })},
		{"a key that is none", edit(first, func(e *ledger.Entry) { e.Key = "RW" })},
		{"another key", edit(second, func(e *ledger.Entry) { e.Key = other.public.String() })},
		{"signed by another", signedAnew(second, raise)},
		{"signed by another for the officer", func(es []ledger.Entry) []ledger.Entry {
			raise(&es[second])
			es = sealed(es).Entries
			es[second] = signed(es[second], other, officer)
			return es
		}},
		{"the first signed by another", signedAnew(first, raise)},
		{"an unsigned limit", func(es []ledger.Entry) []ledger.Entry {
			e := es[second]
			raise(&e)
			e.Key, e.Signature = "", ""
			return append(es, e)
		}},
		{"the first limit once more", func(es []ledger.Entry) []ledger.Entry {
			return append(es, es[first])
		}},
		{"the last limit once more", func(es []ledger.Entry) []ledger.Entry {
			return append(es, es[second])
		}},
		{"a limit of another ledger", func(es []ledger.Entry) []ledger.Entry {
			es[a].Run = "c" // in the other it is "a"
			es[first] = foreign.Entries[first]
			return es
		}},
		{"the limits swapped", func(es []ledger.Entry) []ledger.Entry {
			es[first], es[second] = es[second], es[first]
			return es
		}},
		{"the first limit left out", func(es []ledger.Entry) []ledger.Entry {
			return slices.Delete(es, first, first+1)
		}},
		{"a run left out", func(es []ledger.Entry) []ledger.Entry { return slices.Delete(es, a, a+1) }},
		{"a later run left out", func(es []ledger.Entry) []ledger.Entry {
			return slices.Delete(es, b, b+1)
		}},
		{"a run that cost less", edit(a, func(e *ledger.Entry) {
			e.Budget = &accountant.Budget{Epsilon: .5}
		})},
		{"other units", edit(open, func(e *ledger.Entry) { e.MaxRowsPerUnit = 3 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := sealed(c.change(slices.Clone(l.Entries)))
			if err := bad.Verify(nil); !errors.Is(err, ledger.ErrUnsigned) ||
				!errors.Is(err, ledger.ErrInvalid) {
				t.Errorf("verify: %v", err)
			}
			refuses(t, write(t, bad))
		})
	}

	// What the file cannot tell, who knows the key can.
	key := officer.public.String()
	for name, bad := range map[string]*ledger.Ledger{
		"no limits": sealed(append(slices.Clone(l.Entries[:first]), l.Entries[b])),
		"begun anew by another": func() *ledger.Ledger {
			es := slices.Clone(l.Entries[:b])
			es[first] = signed(es[first], other, other)
			return sealed(es)
		}(),
	} {
		stattest.Check(t, bad.Verify(nil))
		in, _ := bad.LimitInForce()
		stattest.Wraps(t, ledger.CheckKey(in, key), ledger.ErrUnsigned, "%s", name)
	}
	in, _ := l.LimitInForce()
	stattest.Check(t, ledger.CheckKey(in, key))
}

// write writes a ledger as a file has it.
func write(t *testing.T, l *ledger.Ledger) *ledger.File {
	t.Helper()
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for _, e := range l.Entries {
		stattest.Check(t, lines.Encode(e))
	}
	path := filepath.Join(t.TempDir(), "ledger")
	stattest.Check(t, os.WriteFile(path, text.Bytes(), 0o600))
	return ledger.NewFile(path)
}

// refuses: no run begins in this ledger, and it takes no limit.
func refuses(t *testing.T, f *ledger.File) {
	t.Helper()
	before := stattest.Must(os.ReadFile(f.Path()))
	stattest.Wraps(t, reserve(t, f, "new"), ledger.ErrInvalid, "a run")
	stattest.Wraps(t, set(t, f, math.MaxFloat64, nil), ledger.ErrInvalid, "a limit")
	after := stattest.Must(os.ReadFile(f.Path()))
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// TestSet: a limit of a ledger that names a key needs its signature, and a key is handed over by
// its owner only.
func TestSet(t *testing.T) {
	officer, other := newPair(t), newPair(t)
	f := file(t, officer)
	forged, handed := other, officer // with the keys that they name
	forged.public, handed.public = officer.public, other.public
	for name, by := range map[string]*pair{
		"unsigned": nil, "of another": &other, "of another for the officer": &forged,
	} {
		stattest.Wraps(t, set(t, f, 100, by), ledger.ErrUnsigned, "%s", name)
	}
	stattest.Check(t, reserve(t, f, "third"))
	stattest.Wraps(t, reserve(t, f, "fourth"), accountant.ErrBudget, "a run above the signed limit")
	stattest.Check(t, set(t, f, 4, &handed)) // hands over
	stattest.Wraps(t, set(t, f, 5, &officer), ledger.ErrUnsigned, "the key before")
	stattest.Check(t, set(t, f, 5, &other))
	stattest.Check(t, reserve(t, f, "fourth"))
	l := stattest.Must(f.Read())
	stattest.Check(t, l.Verify(nil))
}

// TestFirstLimitNamesItsOwnKey: there is nothing to hand over yet, and the refusal leaves no file.
func TestFirstLimitNamesItsOwnKey(t *testing.T) {
	handed := newPair(t)
	handed.public = newPair(t).public
	f := ledger.NewFile(filepath.Join(t.TempDir(), "ledger"))
	stattest.Wraps(t, set(t, f, 3, &handed), ledger.ErrUnsigned, "")
	if text, _ := os.ReadFile(f.Path()); len(text) > 0 {
		t.Errorf("the ledger has %q", text)
	}
}

// TestSignedLimitIsKilled: wherever the writing of a signed limit breaks off, the ledger is as it
// was before or has the limit, and the limit can be set again.
func TestSignedLimitIsKilled(t *testing.T) {
	officer := newPair(t)
	whole := stattest.Must(os.ReadFile(file(t, officer).Path()))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	last := len(whole) - len(lines[4])
	for n := last; n < len(whole); n += 7 {
		path := filepath.Join(t.TempDir(), "ledger")
		stattest.Check(t, os.WriteFile(path, whole[:n], 0o600))
		f := ledger.NewFile(path)
		stattest.Check(t, set(t, f, 3, &officer))
		again := stattest.Must(os.ReadFile(path))
		if !bytes.Equal(again, whole) {
			t.Fatalf("cut at %d: other bytes", n)
		}
	}
}

// TestFlippedBits: no bit of a signed line can be flipped.
func TestFlippedBits(t *testing.T) {
	whole := stattest.Must(os.ReadFile(file(t, newPair(t)).Path()))
	for at := len(whole) - len(bytes.SplitAfter(whole, []byte("\n"))[4]); at < len(whole)-1; at++ {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		if l, err := ledger.Parse(bytes.NewReader(bad)); err == nil && l.Verify(nil) == nil {
			t.Errorf("byte %d", at)
		}
	}
}
