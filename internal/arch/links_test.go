package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// mdLink is a link or picture of a Markdown page: its target, without anchor. A text may be broken
// over lines.
var mdLink = regexp.MustCompile(`\]\(([^()\s#]+)(?:#[^()\s]*)?\)`)

// TestLinksLead follows every relative link of README, CONTRIBUTING and docs to a file or folder.
func TestLinksLead(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	stattest.Check(t, err)
	links := 0
	for _, page := range pages {
		text := stattest.Must(os.ReadFile(page))
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("found only %d links", links)
	}
}
