package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestHostileCSV: a small file of many short lines is refused before it takes the memory of all the
// columns of a lenient schema, packed or from a pipe.
func TestHostileCSV(t *testing.T) {
	wide := func(columns int) *schema.Schema {
		s := &schema.Schema{Lenient: true}
		for i := range columns {
			s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("c", i),
				Kind: schema.Boolean})
		}
		return s
	}
	for _, c := range []struct {
		name    string
		columns int
		packed  bool
		want    error
	}{
		{"packed", 200, true, errTooMuch},
		{"packed, few columns", 2, true, nil},
		{"plain", 20, false, nil},
		{"plain, many columns", 5000, false, errTooMuch},
	} {
		s := wide(c.columns)
		text := make([]byte, 0, 9<<20)
		for i, column := range s.Columns {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(text, column.Name...)
		}
		text = append(append(text, '\n'), bytes.Repeat([]byte("x\n"), 1<<20)...)
		read := func(r io.Reader, size int64) error {
			_, _, err := ReadCSV(context.Background(), r, size, s, ReadOptions{workers: 1})
			return err
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var err error
		if c.packed {
			small := packed(t, string(text))
			r := stattest.Must(unpack(bytes.NewReader(small), int64(len(small))))
			err = read(r, -1)
		} else {
			err = read(bytes.NewReader(text[:1<<20]), -1)
		}
		runtime.ReadMemStats(&after)
		stattest.Wraps(t, err, c.want, "%s", c.name)
		if used := after.TotalAlloc - before.TotalAlloc; used > memoryLimit {
			t.Errorf("%s: %d MB allocated", c.name, used>>20)
		} else {
			t.Logf("%s: %d MB allocated", c.name, used>>20)
		}
	}
}
