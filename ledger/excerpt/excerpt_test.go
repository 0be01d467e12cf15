package excerpt

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/ledger"
)

func TestEntriesAreBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var es Entries
	many := "[" + strings.Repeat("{},", maxEntries) + "{}]"
	if err := json.Unmarshal([]byte(many), &es); !errors.Is(err, ledger.ErrInvalid) {
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
		{`[{"sequel":1}]`, 0, ledger.ErrInvalid}, {`{}`, 0, ledger.ErrInvalid},
	} {
		if err := json.Unmarshal([]byte(c.text), &es); !errors.Is(err, c.err) || err == nil &&
			len(es) != c.want {
			t.Errorf("%s: %d entries, %v", c.text, len(es), err)
		}
	}
}
