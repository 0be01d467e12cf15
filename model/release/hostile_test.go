package release

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// zipped is an archive of a model, as another writer may make it.
func zipped(t testing.TB, method uint16, manifest, parameters []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, part := range []Member{{manifestName, manifest}, {parametersName, parameters}} {
		if part.Body != nil {
			e := must(w.CreateHeader(&zip.FileHeader{Name: part.Name, Method: method}))
			must(e.Write(part.Body))
		}
	}
	check(t, w.Close())
	return out.Bytes()
}

// liar is a model file whose directory promises n bytes of parameters, and packed bytes of them in
// the file, where there are a few.
func liar(t *testing.T, n, packed uint64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	must(must(w.CreateHeader(&zip.FileHeader{Name: manifestName})).Write([]byte("{}")))
	must(must(w.CreateRaw(&zip.FileHeader{Name: parametersName, UncompressedSize64: n,
		CompressedSize64: packed})).Write(make([]byte, 1000)))
	check(t, w.Close())
	return out.Bytes()
}

// TestHostileModels: a model file of whatever content is refused, or read, within a bound of memory
// and time that its own size sets.
func TestHostileModels(t *testing.T) {
	good := testModel(t)
	manifest := func(settings, ledger string) []byte {
		return fmt.Appendf(nil, `{"format":1,"settings":%s,"ledger":[%s]}`, settings, ledger)
	}
	entries := func(n int) string { return strings.TrimSuffix(strings.Repeat("{},", n), ",") }
	nothing := []byte{}
	// A grouping of 50,000 columns, each of 65,536 codes of which two are merged, in 20 bytes.
	le := binary.LittleEndian
	groups := le.AppendUint32(le.AppendUint32(nil, 1), 50_000)
	for range 50_000 {
		// codes, merged, the two as uint16, weights
		for _, x := range []uint32{1 << 16, 2, 1 << 16, 1, 1} {
			groups = le.AppendUint32(groups, x)
		}
	}
	marginal := append(le.AppendUint32(nil, uint32(len(groups))), groups...)
	marginal = le.AppendUint64(marginal, 0)
	// A generator of 4 million cells and one unit, and one that says so without the weights.
	network := append(le.AppendUint64(nil, math.Float64bits(10)), "dgen"...)
	for _, x := range []uint32{1, 64} {
		network = le.AppendUint32(network, x)
	}
	for range 64 {
		network = le.AppendUint32(network, 1<<16)
	}
	network = le.AppendUint32(le.AppendUint32(network, 4096), 4096)

	stored := func(kind string, raw []byte) []byte {
		m := *good
		m.raw, m.Parameters = raw, parameters{Kind: kind, Bytes: len(raw), SHA256: digest(raw)}
		return encode(t, &m)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"compressed", zipped(t, zip.Deflate, manifest("{}", entries(16_000_000)), nothing),
			"is compressed"},
		{"a ledger of small entries", zipped(t, zip.Store, manifest("{}", entries(5_000_000)), nothing),
			"more than 100000 entries"},
		{"settings", zipped(t, zip.Store, manifest("["+strings.Repeat("0,", 3<<20)+"0]", ""), nothing),
			"settings of more than"},
		{"a directory that lies", liar(t, 1<<30, 1<<29), "larger than"},
		{"a grouping", stored(kindMarginal, marginal), "grouping of 50000 columns"},
		{"a grouping of fewer columns", stored(kindMarginal, fewer(marginal)),
			"more than 16777216 codes"},
		{"a generator", stored(kindGenerator, network), "parameters"},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(c.file), int64(len(c.file)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		used := int64(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d bytes of file, %d kB allocated", c.name, len(c.file), used>>10)
		if used > 8*int64(len(c.file))+200<<20 {
			t.Errorf("%s: %d bytes of file took %d MiB", c.name, len(c.file), used>>20)
		}
	}
}

// fewer says that a grouping has 10,000 columns.
func fewer(marginal []byte) []byte {
	b := slices.Clone(marginal)
	binary.LittleEndian.PutUint32(b[8:], 10_000)
	return b
}

// TestRowsAreThoseOfTheParameters: the number of rows in the manifest, which decides how many are
// drawn by default, is the one that was released.
func TestRowsAreThoseOfTheParameters(t *testing.T) {
	for _, rows := range []float64{-5, 1e15, math.MaxFloat64, 0, 101} {
		m := testModel(t)
		m.Rows = rows
		file := encode(t, m)
		if _, err := Read(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrFormat) {
			t.Errorf("%v rows in the manifest: %v, want ErrFormat", rows, err)
		}
	}
	for _, rows := range []float64{-5, 1e15, math.Inf(1), math.NaN()} {
		f := testFitted(t, nil)
		f.Params = total{f.Params.(*Marginal), rows}
		if _, err := New(f); err == nil {
			t.Errorf("a model of %v rows was made", rows)
		}
	}
}

// total are parameters that say another number of rows.
type total struct {
	*Marginal
	rows float64
}

func (p total) Total() float64 { return p.rows }

// TestOneRun: a ledger of many runs is refused before their costs are computed.
func TestOneRun(t *testing.T) {
	m := testModel(t)
	var l []ledger.Entry
	last := ledger.Entry{}
	for i, e := range []ledger.Entry{m.Ledger[0], m.Ledger[1], m.Ledger[1]} {
		if i == 2 {
			e.Run = "r2"
			e.Composition = nil // which Verify of the ledger would complain of
		}
		last = e.Seal(last)
		l = append(l, last)
	}
	m.Ledger = l
	if _, err := m.Verify(pld.Epsilon); !errors.Is(err, ErrClaim) ||
		!strings.Contains(err.Error(), "2 runs, want 1") {
		t.Errorf("error %v, want 2 runs", err)
	}
}
