package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// columns is how wide a line is at most; a tab counts as one.
const columns = 100

// TestLinesAreNarrow holds Go, Markdown and templates of texts to one width. Wider may be a line of
// a table, of code in a page, of what an example prints, with a raw string, or with an address that
// cannot be broken.
func TestLinesAreNarrow(t *testing.T) {
	wide, files := 0, 0
	stattest.Check(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		ext := filepath.Ext(path)
		if d.IsDir() || ext != ".go" && ext != ".md" && !isTemplate(path) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for i, line := range wideLines(string(b), ext) {
			if line {
				wide++
				t.Errorf("%s:%d is wider than %d columns", path, i+1, columns)
			}
		}
		return nil
	}))
	if files < 300 {
		t.Errorf("found only %d files", files)
	}
}

// wideLines says of each line whether it is too wide.
func wideLines(text, ext string) []bool {
	var out []bool
	code, raw, output := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		wide := utf8.RuneCountInString(line) > columns
		if ext == ".go" {
			comment := strings.HasPrefix(strings.TrimSpace(line), "//")
			output = comment && (output || strings.Contains(line, "// Output:"))
			wide = wide && !raw && !output && !strings.Contains(line, "`")
			raw = raw != (strings.Count(line, "`")%2 == 1)
		}
		if ext == ".md" {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			wide = wide && !code && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "    ")
		}
		if wide && strings.Contains(line, "://") && len(strings.Fields(line)) <= 3 {
			wide = false
		}
		out = append(out, wide)
	}
	return out
}
