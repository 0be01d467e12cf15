package table

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// scanned returns names and rows as one text.
func scanned(t *testing.T, in string, header bool, comma byte) (string, error) {
	t.Helper()
	path := fileOf(t, ".csv", []byte(in))
	var b strings.Builder
	err := ScanText(path, ScanOptions{CSV: schema.CSV{NoHeader: !header, Comma: comma}},
		func(names, row []string) error {
			if b.Len() == 0 {
				fmt.Fprintf(&b, "%s;", strings.Join(names, "|"))
			}
			fmt.Fprintf(&b, "%s;", strings.Join(row, "|"))
			return nil
		})
	return b.String(), err
}

func TestScanText(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		header   bool
		want     string
	}{
		{"header", "a,b\n1,2\n3,\n", true, "a|b;1|2;3|;"},
		{"no header", "a,b\n1,2\n", false, "column_1|column_2;a|b;1|2;"},
		{"quotes, mark, returns, blank lines", "\ufeff\"a,a\",b\r\n\n\"1\",\"\"\"2\"\r\n\r\n\n", true,
			"a,a|b;1|\"2;"},
		{"header only", "a,b\n", true, ""},
	} {
		if got, err := scanned(t, tt.in, tt.header, ','); got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	if got, err := scanned(t, "a;b\n1;2\n", true, ';'); got != "a|b;1|2;" || err != nil {
		t.Errorf("semicolons: got %q, %v", got, err)
	}
	// Longer than a block.
	rows := strings.Repeat("1,\"2,\"\n", blockSize/7+100)
	if got, err := scanned(t, "a,b\n"+rows, true, ','); got != "a|b;"+strings.Repeat("1|2,;",
		blockSize/7+100) || err != nil {
		t.Errorf("several blocks: %d bytes, %v", len(got), err)
	}
}

func TestScanTextErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "table: the file is empty"},
		{"few cells", "a,b\n1,2\n1\n", "table: line 3: " + errFewCells.Error()},
		{"many cells", "a,b\n1,2,SECRET\n", "table: line 2: more cells than columns"},
		{"no text", "a,b\n1,\x00SECRET\n", "table: line 2, column 2: " + errNUL.Error()},
	} {
		_, err := scanned(t, tt.in, true, ',')
		if err == nil || strings.TrimSuffix(err.Error(), ": "+schema.ErrSchema.Error()) != tt.want ||
			!errors.Is(err, schema.ErrSchema) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	stattest.Fails(t, stattest.Err(scanned(t, "a,b\n", true, '"')),
		"a quote as the separator was accepted")
}

// The error of fn ends the scan and comes back.
func TestScanTextStops(t *testing.T) {
	errEnough := errors.New("enough")
	path := filepath.Join(t.TempDir(), "a.csv")
	stattest.Check(t, os.WriteFile(path, []byte("a\n1\n2\n"), 0o600))
	for _, path := range []string{path, "testdata/types-groups.parquet"} {
		calls := 0
		err := ScanText(path, ScanOptions{}, func([]string, []string) error { calls++; return errEnough })
		if err != errEnough || calls != 1 {
			t.Errorf("%s: %d calls, %v", path, calls, err)
		}
	}
}
