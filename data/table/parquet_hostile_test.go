package table

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// The kinds of values of that protocol.
const (
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// compact writes Thrift's compact protocol: a struct is a list of fields.
type compact struct {
	bytes.Buffer
	last []int
}

func (c *compact) uint(x uint64) { c.Write(binary.AppendUvarint(nil, x)) }

func (c *compact) field(id int, kind byte) {
	delta := id - c.last[len(c.last)-1]
	c.last[len(c.last)-1] = id
	c.WriteByte(byte(delta)<<4 | kind)
}

func (c *compact) int(id int, x int64) {
	c.field(id, thriftInt32)
	c.uint(uint64(x)<<1 ^ uint64(x>>63))
}

func (c *compact) text(id int, text string) {
	c.field(id, thriftBinary)
	c.uint(uint64(len(text)))
	c.WriteString(text)
}

// structure writes the fields of a struct that is a list's element or the whole.
func (c *compact) structure(fields func()) {
	c.last = append(c.last, 0)
	fields()
	c.last = c.last[:len(c.last)-1]
	c.WriteByte(0)
}

func (c *compact) inside(id int, fields func()) {
	c.field(id, thriftStruct)
	c.structure(fields)
}

func (c *compact) list(id int, kind byte, n int, element func(i int)) {
	c.field(id, thriftList)
	c.WriteByte(0xf0 | kind)
	c.uint(uint64(n))
	for i := range n {
		element(i)
	}
}

// chunkSpec is a column chunk of a hostile file.
type chunkSpec struct {
	physical int // 2 = 64-bit integers, 6 = byte arrays
	codec    int
	rows     int64
	pages    []byte
}

// element is an element of a schema.
type element struct {
	name     string
	children int64
	physical int // -1: a group
}

// hostile writes a Parquet file of one column by hand; edit may change the
// footer's schema.
func hostile(c chunkSpec, elements ...element) []byte {
	if elements == nil {
		elements = []element{{"root", 1, -1}, {"a", 0, c.physical}}
	}
	out := append([]byte("PAR1"), c.pages...)
	var f compact
	f.structure(func() {
		f.int(1, 1)
		f.list(2, thriftStruct, len(elements), func(i int) {
			e := elements[i]
			f.structure(func() {
				if e.physical >= 0 {
					f.int(1, int64(e.physical))
					f.int(3, 0) // required
				}
				f.text(4, e.name)
				if e.children != 0 {
					f.int(5, e.children)
				}
			})
		})
		f.field(3, thriftInt64)
		f.uint(uint64(c.rows) << 1)
		f.list(4, thriftStruct, 1, func(int) {
			f.structure(func() {
				f.list(1, thriftStruct, 1, func(int) {
					f.structure(func() {
						f.field(2, thriftInt64)
						f.uint(8)
						f.inside(3, func() {
							f.int(1, int64(c.physical))
							f.list(2, thriftInt32, 1, func(int) { f.uint(0) })
							f.list(3, thriftBinary, 1, func(int) { f.uint(1); f.WriteString("a") })
							f.int(4, int64(c.codec))
							for id, x := range map[int]int64{5: c.rows} {
								f.field(id, thriftInt64)
								f.uint(uint64(x) << 1)
							}
							for _, x := range []int64{int64(len(c.pages)), int64(len(c.pages))} {
								f.field(f.last[len(f.last)-1]+1, thriftInt64)
								f.uint(uint64(x) << 1)
							}
							f.field(9, thriftInt64)
							f.uint(4 << 1)
						})
					})
				})
				f.field(2, thriftInt64)
				f.uint(uint64(len(c.pages)) << 1)
				f.field(3, thriftInt64)
				f.uint(uint64(c.rows) << 1)
			})
		})
	})
	out = append(out, f.Bytes()...)
	out = binary.LittleEndian.AppendUint32(out, uint32(f.Len()))
	return append(out, "PAR1"...)
}

// dataPage is a page of the first version.
func dataPage(encoding int, values, size int64, stored []byte) []byte {
	var h compact
	h.structure(func() {
		h.int(1, pageV1)
		h.int(2, size)
		h.int(3, int64(len(stored)))
		h.inside(5, func() {
			h.int(1, values)
			h.int(2, int64(encoding))
			h.int(3, 3)
			h.int(4, 3)
		})
	})
	return append(h.Bytes(), stored...)
}

// dictionaryPage is the page of a dictionary.
func dictionaryPage(values, size int64, stored []byte) []byte {
	var h compact
	h.structure(func() {
		h.int(1, pageDictionary)
		h.int(2, size)
		h.int(3, int64(len(stored)))
		h.inside(7, func() { h.int(1, values); h.int(2, 0) })
	})
	return append(h.Bytes(), stored...)
}

// zeros is n zero bytes, compressed.
func zeros(t testing.TB, codec int, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch codec {
	case 1:
		return snappy.Encode(nil, make([]byte, n))
	case 2:
		w, _ = gzip.NewWriterLevel(&b, 9)
	case 4:
		w = brotli.NewWriterLevel(&b, 9)
	case 6:
		w, _ = zstd.NewWriter(&b)
	}
	buf := make([]byte, 1<<20)
	for n > 0 {
		k := stattest.Must(w.Write(buf[:min(n, len(buf))]))
		n -= k
	}
	stattest.Check(t, w.Close())
	return b.Bytes()
}

// memoryLimit is what the heap may grow by while a hostile file is read. What
// they ask for, or mean, is 3 GB and more.
const memoryLimit = 1 << 30

// readHostile reads a file in every way and returns the errors. Its time and its
// memory are checked.
func readHostile(t *testing.T, data []byte) (errs []error) {
	t.Helper()
	s := oneColumn("a", schema.Categorical, 0, 0, "x", "0")
	s.Lenient = true
	unit := *s
	unit.Columns = []schema.Column{{Name: "b", Kind: schema.Boolean, Missing: []string{""},
		OnInvalid: schema.Clamp}}
	unit.Unit, unit.MaxRowsPerUnit = "a", 1
	path := t.TempDir() + "/h.parquet"
	stattest.Check(t, os.WriteFile(path, data, 0o600))
	for name, read := range map[string]func() error{
		"read": func() error {
			_, err := parquetOf(data, s, ReadOptions{workers: 2})
			return err
		},
		"units": func() error {
			_, err := parquetOf(data, &unit, ReadOptions{workers: 2})
			return err
		},
		"scan": func() error {
			return ScanText(path, ScanOptions{Lenient: true, Columns: 1}, func([]string,
				[]string) error {
				return nil
			})
		},
		"header": func() error { _, _, err := Header(path, schema.CSV{}); return err },
	} {
		if !*long && name == "header" {
			continue // as a file is opened
		}
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		peak, stop := make(chan uint64), make(chan struct{})
		go func() {
			most := uint64(0)
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapSys-m.HeapReleased)
				select {
				case <-stop:
					peak <- most
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		err := read()
		close(stop)
		most := <-peak
		runtime.ReadMemStats(&after)
		if most > memoryLimit+before.HeapSys-before.HeapReleased {
			t.Errorf("%s: %d MB of heap", name, most>>20)
		}
		t.Logf("%s: %d MB in use, %d MB in all: %v", name, most>>20,
			(after.TotalAlloc-before.TotalAlloc)>>20, err)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// TestHostileFooter: a footer that asks for more memory than there is is refused
// before Arrow sees it: there, no panic could be caught.
func TestHostileFooter(t *testing.T) {
	one := chunkSpec{physical: 2, rows: 1, pages: dataPage(0, 1, 8, make([]byte, 8))}
	huge := []element{{"root", math.MaxInt32, -1}}
	for range 100 {
		huge = append(huge, element{"a column name of some length", 0, 2})
	}
	for name, data := range map[string][]byte{
		"children":           hostile(one, huge...),
		"children of a leaf": hostile(one, element{"root", 1, -1}, element{"a", math.MaxInt32, 2}),
		"negative children":  hostile(one, element{"root", -1, -1}, element{"a", 0, 2}),
		"too few":            hostile(one, element{"root", 2, -1}, element{"a", 0, 2}),
		"too many": hostile(one, element{"root", 1, -1}, element{"a", 0, 2}, element{"b", 0,
			2}),
		"list":            list(1<<31-1, 2),
		"row groups":      list(1<<31-1, 4),
		"key values":      list(1<<31-1, 5),
		"many row groups": manyGroups(1 << 20),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := openTyped(t.Context(), inParquet(bytes.NewReader(data)))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, errDamaged) && !errors.Is(err, errLargeFooter) &&
				!errors.Is(err, errNested) {
				t.Errorf("%d bytes: %v", len(data), err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20+2*uint64(len(data)) {
				t.Errorf("%d bytes made it take %d", len(data), n)
			}
		})
	}
	if errs := readHostile(t, hostile(one)); errs != nil {
		t.Errorf("the file that they are made of: %v", errs)
	}
}

// list is a footer whose given field is a list of so many structs, of which none
// is there.
func list(n uint64, id int) []byte {
	var f compact
	f.structure(func() {
		f.int(1, 1)
		f.field(id, thriftList)
		f.WriteByte(0xf0 | thriftStruct)
		f.uint(n)
	})
	return sealed(f.Bytes())
}

// manyGroups is a footer of n row groups of no rows and one column.
func manyGroups(n int) []byte {
	var f compact
	f.structure(func() {
		f.list(2, thriftStruct, 2, func(i int) {
			f.structure(func() { f.text(4, "a"); f.int(5, int64(1-i)) })
		})
		f.list(4, thriftStruct, n, func(int) {
			f.structure(func() {
				f.list(1, thriftStruct, 1, func(int) { f.structure(func() {}) })
			})
		})
	})
	return sealed(f.Bytes())
}

func sealed(footer []byte) []byte {
	out := append([]byte("PAR1"), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// TestHostilePages: a small file that means gigabytes is refused, or read within
// its bounds.
func TestHostilePages(t *testing.T) {
	repeated := func(p []byte, n int) []byte { return bytes.Repeat(p, n) }
	text := append(binary.LittleEndian.AppendUint32(nil, 1<<20), bytes.Repeat([]byte("x"), 1<<20)...)
	// one entry, n times
	run := func(n uint64) []byte {
		return append([]byte{1}, append(binary.AppendUvarint(nil, n<<1),
			0)...)
	}
	for _, tt := range []struct {
		name    string
		c       chunkSpec
		refused bool
	}{
		{"zstd", chunkSpec{2, 6, 1 << 22, repeated(dataPage(0, 1<<20, 1<<23, zeros(t, 6, 1<<23)), 4)},
			false},
		{"3 GB of pages", chunkSpec{6, 6, 24 << 10, repeated(dataPage(0, 1<<10, 1<<27,
			zeros(t, 6, 1<<27)), 24)}, true},
		{"zstd beyond its size", chunkSpec{6, 6, 1 << 20, dataPage(0, 1<<20, 1<<22, zeros(t, 6, 1<<30))},
			true},
		{"zstd frame of 16 GiB", chunkSpec{6, 6, 9, dataPage(0, 9, 36,
			[]byte("\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00"))}, true},
		{"gzip beyond its size", chunkSpec{6, 2, 9, dataPage(0, 9, 36, zeros(t, 2, 1<<28))}, true},
		{"brotli beyond its size", chunkSpec{6, 4, 9, dataPage(0, 9, 0, zeros(t, 4, 1<<28))}, true},
		{"snappy of 4 GiB", chunkSpec{6, 1, 9, dataPage(0, 9, 36, []byte("\xff\xff\xff\xff\x0f\x00"))},
			true},
		{"sizes of nothing", chunkSpec{6, 6, 9, repeated(dataPage(0, 0, 1<<27, zeros(t, 6, 9)), 5000)},
			true},
		{"page of 2 GiB", chunkSpec{6, 0, 9, dataPage(0, 9, math.MaxInt32, []byte("x"))}, true},
		{"negative page", chunkSpec{6, 0, 9, dataPage(0, 9, -1, []byte("x"))}, true},
		{"index pages", chunkSpec{6, 0, 9, repeated([]byte{0x15, 2, 0x15, 0xfe, 0xff, 0xff, 0x7f, 0x15, 0,
			0x2c, 0, 0}, 9000)}, true},
		{"rows of one run", chunkSpec{6, 0, 1 << 40, append(dictionaryPage(1, 5,
			[]byte("\x01\x00\x00\x00x")), dataPage(8, 1<<31-1, 8, run(1<<31-1))...)}, true},
		{"many rows of one run", chunkSpec{6, 0, 1 << 23, append(dictionaryPage(1, 5,
			[]byte("\x01\x00\x00\x00x")), dataPage(8, 1<<23, 6, run(1<<23))...)}, false},
		{"large dictionary", chunkSpec{6, 6, 9, dictionaryPage(1<<25, 1<<27, zeros(t, 6, 1<<27))}, true},
		{"large cells of a dictionary", chunkSpec{6, 0, 1 << 10, append(dictionaryPage(1, 1<<20+4, text),
			dataPage(8, 1<<10, 4, run(1<<10))...)}, false},
		{"3 GB of cells", chunkSpec{6, 6, 3000, append(dictionaryPage(1, 1<<20+4, squeezed(text)),
			dataPage(8, 3000, 4, squeezed(run(3000)))...)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "negative page" {
				stattest.Must(openTyped(t.Context(), inParquet(bytes.NewReader(hostile(tt.c)))))
			}
			data := hostile(tt.c)
			errs := readHostile(t, data)
			if tt.refused == (len(errs) == 0) {
				t.Errorf("%d bytes: %v", len(data), errs)
			}
			for _, err := range errs {
				if !errors.Is(err, errDamaged) && !errors.Is(err, errTooMuch) && !errors.Is(err, errLargePage) {
					t.Errorf("%d bytes: %v", len(data), err)
				}
			}
		})
	}
}

// TestHostileUnits: ids take of the file's allowance.
func TestHostileUnits(t *testing.T) {
	s := oneColumn("b", schema.Boolean, 0, 0)
	s.Unit, s.MaxRowsPerUnit, s.Columns[0].OnInvalid = "a", 1, schema.Clamp
	var ids []byte
	for i := range 5000 {
		ids = binary.LittleEndian.AppendUint64(ids, uint64(i))
	}
	data := hostile(chunkSpec{2, 0, 5000, dataPage(0, 5000, int64(len(ids)), ids)})
	for ids, want := range map[int64]error{4990: errTooMuch, 5010: nil} {
		p, err := openTyped(t.Context(), inParquet(bytes.NewReader(data)))
		stattest.Check(t, err)
		l := stattest.Must(newLayout(s, nil))
		stattest.Check(t, l.bind(p.names()))
		p.left.Store(ids*(unitCost+4) + int64(len(data)))
		err = l.readTyped(p, ReadOptions{}.withDefaults(), func(part) error { return nil })
		stattest.Wraps(t, err, want, "room for %d of 5000 ids", ids)
	}
}

// squeezed is text in one frame of Zstandard.
func squeezed(text []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	defer w.Close()
	return w.EncodeAll(text, nil)
}

// TestUnsupportedCodec: the message names the way out, and comes before anything is spent.
func TestUnsupportedCodec(t *testing.T) {
	for _, codec := range []int{3, 5, 7, 99} {
		data := hostile(chunkSpec{2, codec, 1, dataPage(0, 1, 8, make([]byte, 8))})
		begin := func() error { t.Error("it begins"); return nil }
		_, err := parquetOf(data, oneColumn("a", schema.Integer, 0, 9), ReadOptions{Begin: begin})
		stattest.Wraps(t, err, errCodec, "codec %d", codec)
	}
}
