package ledger

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestEntriesAreBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var es Excerpt
	many := "[" + strings.Repeat("{},", maxEntries) + "{}]"
	if err := json.Unmarshal([]byte(many), &es); !errors.Is(err, ErrInvalid) {
		t.Errorf("%d entries: %v", maxEntries+1, err)
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 300 {
		t.Errorf("%d MiB", used)
	}
	for _, c := range []struct {
		text string
		want int
		err  error
	}{
		{"null", 0, nil}, {"[]", 0, nil}, {`[{"seq":1}]`, 1, nil},
		{`[{"sequel":1}]`, 0, ErrInvalid}, {`{}`, 0, ErrInvalid},
	} {
		if err := json.Unmarshal([]byte(c.text), &es); !errors.Is(err, c.err) || err == nil &&
			len(es) != c.want {
			t.Errorf("%s: %d entries, %v", c.text, len(es), err)
		}
	}
}
