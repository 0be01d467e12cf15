package table

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got, err := Header(write("a.csv", "\xef\xbb\xbfage;\"se;x\"\n1;2;this row has too many cells\n"),
		';', nil)
	if err != nil || !slices.Equal(got, []string{"age", "se;x"}) {
		t.Errorf("%q, %v", got, err)
	}
	for name, text := range map[string]string{"empty.csv": "", "blank.csv": "\n1\n",
		"quote.csv": "sec\"ret\n", "a.txt": "a\n", "bad.parquet": "secret"} {
		if _, err := Header(write(name, text), ',', nil); err == nil || strings.Contains(err.Error(),
			"secret") || strings.Contains(err.Error(), `sec"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Header(filepath.Join(dir, "none.csv"), ',', nil); err == nil {
		t.Error("no file: no error")
	}
	if _, err := Header(write("b.csv", "a\n"), '"', nil); err == nil {
		t.Error("a quote as comma: no error")
	}
}
