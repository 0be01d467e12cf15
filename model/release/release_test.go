package release

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// must is a value of which a test is sure.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

var check = stattest.Check

func testSchema() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{
		{Name: "a", Kind: schema.Categorical, Categories: []string{"x", "y", "z"}},
		{Name: "n", Kind: schema.Integer, Min: 0, Max: 9, Missing: []string{"?"}},
	}}
}

var sigma = accountant.Gaussian{NoiseMultiplier: 6}

// testFitted is what an honest run of one Gaussian on testSchema hands over; change edits the
// entries before they are sealed.
func testFitted(t testing.TB, change func(e []ledger.Entry)) Fitted {
	t.Helper()
	s := testSchema()
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entries := []ledger.Entry{
		{Time: at, Kind: ledger.EntryOpen, Adjacency: accountant.AddRemove},
		{Time: at, Kind: ledger.EntryReserve, Run: "r1", Tool: "t 1", Adjacency: accountant.AddRemove,
			Budget: &budget, Method: "test", SchemaSHA256: s.Fingerprint(),
			Composition: accountant.Composition{{Event: sigma, Count: 1}}},
		{Time: at, Kind: ledger.EntryCharge, Run: "r1", Label: "counts",
			Event: &accountant.Charge{Event: sigma, Count: 1}, Answer: ledger.HashFile([]byte("counts"))},
	}
	if change != nil {
		change(entries)
	}
	sizes := s.Sizes()
	counts := make([]float64, sizes[0]*sizes[1])
	for i := range counts {
		counts[i] = float64(10 + i)
	}
	ms := []marginal.Measurement{{Cols: []int{0, 1}, Counts: counts, Sigma: 6}}
	model := must(marginal.Fit(context.Background(), sizes, ms, marginal.Options{}))
	return Fitted{Method: "test", Tool: "t 1", Schema: s, Session: run(chained(entries)),
		Settings: map[string]any{"sigma": 6.0},
		Params:   &Marginal{Model: model, Grouping: marginal.NoGroups(sizes)}}
}

// run is a run that is about to deliver.
type run []ledger.Entry

func (r run) Ledger() *ledger.Ledger { return &ledger.Ledger{Entries: slices.Clone(r)} }
func (run) Deliver(string)           {}

// payFor has charges for the noisy marginals of f in its run, in place of the one.
func payFor(t testing.TB, f *Fitted) {
	t.Helper()
	es := slices.Clone(f.Session.(run)[:2])
	es[1].Composition = nil
	for _, m := range f.Params.(*Marginal).Measured {
		event := accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: m.Sigma}, Count: 1}
		counts := make([]int64, len(m.Counts))
		for i, x := range m.Counts {
			counts[i] = int64(x)
		}
		answer := must(privacy.HashMeasured("", f.Schema.Sizes(),
			[]privacy.Query{privacy.Marginal{Cols: m.Cols, Groups: m.Groups}}, m.Sigma, [][]int64{counts}))
		es[1].Composition = append(es[1].Composition, event)
		es = append(es, ledger.Entry{Time: es[1].Time, Kind: ledger.EntryCharge, Run: es[1].Run,
			Event: &event, Answer: answer})
	}
	f.Session = run(chained(es))
}

// chained seals entries, each with the hash of that before it.
func chained(es []ledger.Entry) (out []ledger.Entry) {
	var last ledger.Entry
	for _, e := range es {
		last = e.Seal(last)
		out = append(out, last)
	}
	return out
}

// sealed has a closing line with the hash of what m now holds, as a forger would.
func sealed(m *Model) *Model {
	n := len(m.Ledger) - 1
	m.Ledger[n].Outputs = must(ledger.HashOutputs(m.Manifest, m.Ledger[:n]))
	m.Ledger = chained(m.Ledger)
	return m
}

func testModel(t testing.TB) *Model {
	t.Helper()
	m := must(New(testFitted(t, nil)))
	return m
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var buf bytes.Buffer
	check(t, m.Write(&buf))
	return buf.Bytes()
}

func TestRoundTrip(t *testing.T) {
	m := testModel(t)
	path := filepath.Join(t.TempDir(), "m.decoy")
	check(t, os.WriteFile(path, encode(t, m), 0o644))
	back := must(Open(path))
	if back.Claim != m.Claim || back.Rows != m.Rows || back.SchemaYAML != m.SchemaYAML ||
		back.Schema().Fingerprint() != m.SchemaSHA256 {
		t.Errorf("read back %+v", back.Manifest)
	}
	v, err := back.Verify(pld.Epsilon)
	if err != nil || v.Charges != 1 || v.Reserved.Epsilon > 1 ||
		v.Charged.Epsilon != v.Reserved.Epsilon {
		t.Errorf("verification %+v, %v", v, err)
	}
	if text := strings.Join(back.Describe(), "\n"); !strings.Contains(text, "cells") {
		t.Errorf("description %q", text)
	}
}

// TestVerifyRefuses tampers with each thing that Verify promises to check.
func TestVerifyRefuses(t *testing.T) {
	runs := map[string]func(e []ledger.Entry){
		"budget too small for the plan": func(e []ledger.Entry) {
			e[1].Budget = &accountant.Budget{Epsilon: .5, Delta: 1e-9}
		},
		"charge that is not reserved": func(e []ledger.Entry) {
			e[2].Event = &accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: 5},
				Count: 1}
		},
		"charged twice": func(e []ledger.Entry) {
			e[2].Event = &accountant.Charge{Event: sigma, Count: 2}
		},
		"other unit": func(e []ledger.Entry) {
			e[0].Unit, e[1].Unit = "p", "p"
			e[0].MaxRowsPerUnit, e[1].MaxRowsPerUnit = 2, 2
		},
		"other adjacency in the reservation": func(e []ledger.Entry) {
			e[1].Adjacency = accountant.ReplaceOne
		},
		"other method": func(e []ledger.Entry) { e[1].Method = "x" },
		"other schema": func(e []ledger.Entry) { e[1].SchemaSHA256 = strings.Repeat("0", 64) },
	}
	for name, change := range runs {
		if _, err := New(testFitted(t, change)); !errors.Is(err, ErrClaim) {
			t.Errorf("%s: %v, want ErrClaim", name, err)
		}
	}
	forged := map[string]func(m *Model){
		"smaller epsilon claimed": func(m *Model) { m.Claim.Epsilon = .1 },
		"larger epsilon claimed":  func(m *Model) { m.Claim.Epsilon = 2 },
		"smaller delta claimed":   func(m *Model) { m.Claim.Delta = 1e-12 },
		"other adjacency":         func(m *Model) { m.Claim.Adjacency = accountant.ReplaceOne },
		"other unit claimed":      func(m *Model) { m.Claim.Unit = "patient" },
		"method renamed":          func(m *Model) { m.Method = "other" },
		"schema fingerprint":      func(m *Model) { m.SchemaSHA256 = "00" },
		"not closed as done":      func(m *Model) { m.Ledger[3].Status = ledger.StatusFailed },
		"another program":         func(m *Model) { m.Tool = "t 2" },
		"a charge without answer": func(m *Model) { m.Ledger[2].Answer = "" },
	}
	for name, change := range forged {
		m := testModel(t)
		change(m)
		if _, err := sealed(m).Verify(pld.Epsilon); !errors.Is(err, ErrClaim) ||
			strings.Contains(err.Error(), "not what the run delivered") {
			t.Errorf("%s: %v, want ErrClaim", name, err)
		}
	}
	for name, change := range map[string]func(m *Model){
		"setting changed": func(m *Model) { m.Settings["sigma"] = 7. },
		"no hash":         func(m *Model) { m.Ledger[3].Outputs = ""; m.Ledger = chained(m.Ledger) },
		"entry edited":    func(m *Model) { m.Ledger[2].Label = "other" },
		"entry removed":   func(m *Model) { m.Ledger = slices.Delete(m.Ledger, 2, 3) },
		"ledger cut":      func(m *Model) { m.Ledger = m.Ledger[:3] },
		"ledger empty":    func(m *Model) { m.Ledger = nil },
	} {
		m := testModel(t)
		change(m)
		if _, err := m.Verify(pld.Epsilon); !errors.Is(err, ErrClaim) {
			t.Errorf("%s: %v, want ErrClaim", name, err)
		}
	}
}

// TestVerifyBoughtSchema: a reservation that names no schema is that of a run on texts, which paid
// for them and went over to a lenient schema that it bought; all else is refused.
func TestVerifyBoughtSchema(t *testing.T) {
	texts := accountant.Charge{Event: accountant.Approx{Epsilon: .01, Delta: 1e-12}, Count: 1}
	for _, c := range []struct {
		name    string
		lenient bool
		reserve func(e *ledger.Entry)
		want    error
	}{
		{"bought", true, func(*ledger.Entry) {}, nil},
		{"strict", false, func(*ledger.Entry) {}, ErrClaim},
		{"no texts paid for", true, func(e *ledger.Entry) { e.Composition = e.Composition[:1] },
			ErrClaim},
		{"another schema reserved", true, func(e *ledger.Entry) {
			e.SchemaSHA256 = strings.Repeat("0", 64)
		}, ErrClaim},
	} {
		f := testFitted(t, func(e []ledger.Entry) {
			e[1].SchemaSHA256, e[1].Budget.Epsilon = "", 2
			e[1].Composition = append(e[1].Composition, texts)
			c.reserve(&e[1])
		})
		f.Schema.Lenient = c.lenient
		m, err := New(f)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), "fingerprint") {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil {
			run := stattest.Must(m.Ledger.Run(nil))
			m.DeclaredYAML = m.SchemaYAML
			if err := m.Check(run); err == nil || !strings.Contains(err.Error(), "fingerprint") {
				t.Errorf("%s, with a declared schema: %v", c.name, err)
			}
		}
	}
}

// TestVerifyDerivesTheCost: the model's cost is derived a second time, and a claim or a figure of
// the accountant that the derivation excludes is refused.
func TestVerifyDerivesTheCost(t *testing.T) {
	v, err := testModel(t).Verify(pld.Epsilon)
	if err != nil || !(v.Derived.Lower > 0 && v.Derived.Upper >= v.Derived.Lower) || !v.agrees() {
		t.Fatalf("%+v, %v", v, err)
	}
	for name, change := range map[string]func(v *Verification){
		"a claim below the derived cost": func(v *Verification) {
			v.Claim.Epsilon = v.Derived.Lower * (1 - 1e-6)
		},
		"an accountant above the derived cost": func(v *Verification) {
			v.Reserved.Epsilon = v.Derived.Upper + v.Reserved.Slack + 1e-6
		},
	} {
		other := v
		change(&other)
		if other.agrees() {
			t.Errorf("%s is not refused", name)
		}
	}
}

// rezip replaces one entry of a model file; nil leaves it out.
func rezip(t *testing.T, file []byte, name string, edit func([]byte) []byte) []byte {
	t.Helper()
	in := must(zip.NewReader(bytes.NewReader(file), int64(len(file))))
	parts := map[string][]byte{}
	for _, f := range in.File {
		parts[f.Name] = must(entry(in, int64(len(file)), f.Name, 1<<30))
	}
	if name != "" {
		parts[name] = edit(parts[name])
	}
	return zipped(t, zip.Store, parts[manifestName], parts[parametersName])
}

func TestReadRefuses(t *testing.T) {
	good := encode(t, testModel(t))
	swap := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Fatalf("the manifest has no %s", old)
			}
			return bytes.Replace(b, []byte(old), []byte(new), 1)
		}
	}
	none := func([]byte) []byte { return nil }
	for name, file := range map[string][]byte{
		"empty":         nil,
		"text":          []byte("a,b\n1,2\n"),
		"cut short":     good[:len(good)/2],
		"no manifest":   rezip(t, good, manifestName, none),
		"no parameters": rezip(t, good, parametersName, none),
		"unknown key":   rezip(t, good, manifestName, swap(`"method"`, `"methode"`)),
		"no format":     rezip(t, good, manifestName, swap(`"format": 1`, `"format": 0`)),
		"unknown kind": rezip(t, good, manifestName,
			swap(`"kind": "marginal"`, `"kind": "magic"`)),
		"unknown event": rezip(t, good, manifestName, swap(`"gaussian"`, `"gaussianish"`)),
		"schema broken": rezip(t, good, manifestName,
			swap(`kind: integer`, `kind: imaginary`)),
		"schema of other size": rezip(t, good, manifestName, swap(`max: 9`, `max: 8`)),
		"parameters changed": rezip(t, good, parametersName,
			func(b []byte) []byte { b[len(b)/2]++; return b }),
		"parameters longer": rezip(t, good, parametersName,
			func(b []byte) []byte { return append(b, 0) }),
	} {
		if _, err := Read(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
	later := rezip(t, good, manifestName, swap(`"format": 1`, `"format": 2, "new": 3`))
	want := "not a decoy model file: of format 2, this decoy reads format 1"
	if _, err := Read(bytes.NewReader(later), int64(len(later))); err == nil || err.Error() != want {
		t.Errorf("later format: %v, want %s", err, want)
	}
	stattest.Wraps(t, stattest.Err(Open(filepath.Join(t.TempDir(), "missing"))), os.ErrNotExist,
		"missing file")
}

// TestSampleIsReproducible: the bytes that a seed gives are part of the interface; they change only
// with the format version.
func TestSampleIsReproducible(t *testing.T) {
	m := testModel(t)
	draw := func(n int, seed uint64) string {
		var buf bytes.Buffer
		w := must(table.NewWriter(&buf, table.CSV, m.Schema(), ValueRand(seed), table.WriterOptions{}))
		check(t, m.Sample(context.Background(), n, seed, w.Write))
		check(t, w.Close())
		return buf.String()
	}
	first, again := draw(500, 3), draw(500, 3)
	if first != again {
		t.Error("the same seed gives different rows")
	}
	if first == draw(500, 4) {
		t.Error("different seeds give the same rows")
	}
	if got := strings.Count(draw(500, 3), "\n"); got != 501 {
		t.Errorf("%d lines, want a header and 500 rows", got)
	}
	stattest.Fails(t, m.Sample(context.Background(), 0, 1, nil), "no rows were accepted")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stattest.Wraps(t, m.Sample(ctx, 10, 1, func(*table.Table) error { return nil }), context.Canceled,
		"cancelled")
	full := errors.New("disk full")
	if err := m.Sample(context.Background(), 10, 1,
		func(*table.Table) error { return full }); !errors.Is(err, full) {
		t.Errorf("an error of the writer became %v", err)
	}
}

// TestBlocks: rows are written in blocks that differ by one row at most, so that they are alike.
func TestBlocks(t *testing.T) {
	for n, want := range map[int][]int{
		1: {1}, blockRows: {blockRows}, blockRows + 1: {blockRows / 2, blockRows/2 + 1},
	} {
		var got []int
		check(t, testModel(t).Sample(context.Background(), n, 1, func(b *table.Table) error {
			got = append(got, b.Rows())
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Errorf("%d rows in blocks of %v, want %v", n, got, want)
		}
	}
}

// TestGeneratorRoundTrip writes and reads a model of a generator, and damages its parameters.
func TestGeneratorRoundTrip(t *testing.T) {
	e := must(critic.NewEncoder(testSchema()))
	net := must(gan.NewGenerator(e, gan.GeneratorOptions{Latent: 4, Hidden: 8},
		rand.New(rand.NewPCG(1, 2))))
	for kind, lines := range map[string]int{kindGenerator: 1, kindSteered: 2} {
		f := testFitted(t, nil)
		params := &Generator{Net: net, Rows: 123}
		if kind == kindSteered {
			params.Toward = f.Params.(*Marginal)
		}
		f.Params = params
		m := must(New(f))
		file := encode(t, m)
		back := must(Read(bytes.NewReader(file), int64(len(file))))
		if back.Rows != 123 || back.Parameters.Kind != kind || len(back.Describe()) != lines {
			t.Errorf("%s: read back %+v, %q", kind, back.Manifest, back.Describe())
		}
		a, b := m.params.Sample(50, ValueRand(1)), back.params.Sample(50, ValueRand(1))
		for k := range a {
			if !slices.Equal(a[k], b[k]) {
				t.Errorf("%s: column %d differs", kind, k)
			}
		}
		raw := must(f.Params.MarshalBinary())
		for _, cut := range []int{0, 4, 8, 12, 20, len(raw) / 2, len(raw) - 1} {
			stattest.Wraps(t, stattest.Err(decodeParams(kind, raw[:cut])), ErrFormat,
				"%s: cut at %d", kind, cut)
		}
		binary.LittleEndian.PutUint64(raw, math.Float64bits(math.NaN()))
		stattest.Wraps(t, stattest.Err(decodeParams(kind, raw)), ErrFormat, "%s: NaN rows", kind)
	}
	// Marginals of other columns than the generator's.
	other := must(critic.NewEncoderOf([]int{2, 2}))
	one := must(gan.NewGenerator(other, gan.GeneratorOptions{Latent: 1, Hidden: 1},
		rand.New(rand.NewPCG(1, 2))))
	raw := must((&Generator{Net: one, Toward: testFitted(t, nil).Params.(*Marginal)}).MarshalBinary())
	if _, err := decodeParams(kindSteered, raw); !errors.Is(err, ErrFormat) ||
		!strings.Contains(err.Error(), "disagree") {
		t.Errorf("other marginals: %v", err)
	}
}

// FuzzRead: a hostile file never panics, and what is read verifies or refuses.
func FuzzRead(f *testing.F) {
	good := encode(f, testModel(f))
	f.Add(good)
	f.Add(good[:len(good)/3])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		_, _ = m.Verify(pld.Epsilon)
		_ = m.Sample(context.Background(), 3, 1, func(*table.Table) error { return nil })
	})
}
