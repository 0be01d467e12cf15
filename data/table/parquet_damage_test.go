package table

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var long = flag.Bool("long", false, "run the long tests")

// inParquet is a Parquet file, open.
func inParquet(r readAtSeeker) *opened { return &opened{format: Parquet, file: inMemory{r}} }

// readParquet reads a table from a Parquet file.
func readParquet(
	ctx context.Context, r readAtSeeker, s *schema.Schema, o ReadOptions,
) (*Table, Report, error) {
	return inParquet(r).table(ctx, s, o)
}

// parquetOf reads a table from the bytes of a Parquet file.
func parquetOf(data []byte, s *schema.Schema, o ReadOptions) (*Table, error) {
	out, _, err := readParquet(context.Background(), bytes.NewReader(data), s, o)
	return out, err
}

// readDamaged reads a damaged file in every way, and reports what must not
// happen: a panic or a dead end would end the test.
func readDamaged(t *testing.T, data []byte, s *schema.Schema) {
	t.Helper()
	_, err := parquetOf(data, s, ReadOptions{workers: 2})
	if err == nil {
		return
	}
	if !strings.HasPrefix(err.Error(), "table: ") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(err.Error(), "text") || strings.Contains(err.Error(), "shared") {
		t.Errorf("error %v repeats the file", err)
	}
}

// allTypes is a schema of all columns of the test files, whose cells it takes.
func allTypes() *schema.Schema {
	s := &schema.Schema{CSV: schema.CSV{Comma: ','}, Unit: "full", MaxRowsPerUnit: 9}
	for name, kind := range map[string]schema.Kind{
		"i8": schema.Integer, "i64": schema.Real, "u64": schema.Real, "f16": schema.Real,
		"f64": schema.Real, "d9": schema.Real, "d76": schema.Real,
		"date32": schema.Date, "ts_ms": schema.Timestamp, "ts_ns": schema.Timestamp,
		"bool": schema.Boolean,
	} {
		c := schema.Column{Name: name, Kind: kind, Max: 3.2e9, Missing: []string{"NA"},
			OnInvalid: schema.Clamp}
		switch kind {
		case schema.Boolean:
			c.Max = 0
		case schema.Date:
			c.Max = 3200
		}
		s.Columns = append(s.Columns, c)
	}
	for _, name := range []string{"dict", "string", "prefix", "fixed"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
			Categories: []string{"a", "b"}, Missing: []string{"NA"}, OnInvalid: schema.Clamp})
	}
	return s
}

// testFiles are the files to damage.
func testFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/[^r]*.parquet") // but those that are refused
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data := stattest.Must(os.ReadFile(path))
		files[filepath.Base(path)] = data
	}
	return files
}

func TestTruncatedParquet(t *testing.T) {
	for name, data := range testFiles(t) {
		for n := 0; n < len(data); n += 23 {
			_, err := parquetOf(data[:n], allTypes(), ReadOptions{})
			if !errors.Is(err, errDamaged) {
				t.Fatalf("the first %d of %d bytes of %s: error %v", n, len(data), name, err)
			}
		}
	}
}

// A few bytes changed, set or lost, anywhere.
func TestFlippedParquet(t *testing.T) {
	s := allTypes()
	rng := rand.New(rand.NewPCG(9, 10))
	files := testFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		for range 150 {
			bad := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				switch i := rng.IntN(len(bad)); rng.IntN(4) {
				case 0:
					bad[i] ^= 1 << rng.IntN(8)
				case 1:
					bad[i] = byte(rng.Uint32())
				case 2:
					bad[i] = 0xff
				case 3: // moves what follows
					bad = append(bad[:i], bad[i+1:]...)
				}
			}
			readDamaged(t, bad, s)
		}
	}
}

// Every byte of every file.
func TestLongFlippedParquet(t *testing.T) {
	if !*long {
		t.Skip("needs -long")
	}
	s := allTypes()
	rng := rand.New(rand.NewPCG(11, 12))
	for _, data := range testFiles(t) {
		for i := range data {
			for _, mask := range []byte{1 << rng.IntN(8), 0xff} {
				bad := bytes.Clone(data)
				bad[i] ^= mask
				readDamaged(t, bad, s)
			}
		}
	}
}

func FuzzReadParquet(f *testing.F) {
	for _, data := range testFiles(f) {
		f.Add(data)
	}
	s := allTypes()
	f.Fuzz(func(t *testing.T, data []byte) { readDamaged(t, data, s) })
}

func TestNotParquet(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "short": "PAR1", "text": "a,b,c\nx,1,0\nx,1,0\n", "encrypted": "PARE" +
			strings.Repeat("x", 100) + "\x10\x00\x00\x00PARE",
		"long footer": "PAR1\xff\xff\xff\x7fPAR1", "empty footer": "PAR1\x00\x00\x00\x00PAR1",
	} {
		if _, _, err := readParquet(context.Background(), strings.NewReader(data), allTypes(),
			ReadOptions{}); !errors.Is(err, errDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
