package privacy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestClaimPages: each mechanism of the gate has a page, each page has its five parts, and each
// test that a page names exists.
func TestClaimPages(t *testing.T) {
	pages := stattest.Must(filepath.Glob("../docs/claims/*.md"))
	var all strings.Builder
	tests := allTests(t)
	named := regexp.MustCompile("`(Test[A-Za-z_]+)`")
	for _, page := range pages {
		text := stattest.Must(os.ReadFile(page))
		all.Write(text)
		for _, part := range []string{"**Mechanism.**", "**Claim.**", "**Proof.**",
			"**The compiler checks.**", "**The caller must ensure.**", "**Tests.**"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %s", page, part)
			}
		}
		names := named.FindAllStringSubmatch(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, n := range names {
			if !tests[n[1]] {
				t.Errorf("%s names %s, which does not exist", page, n[1])
			}
		}
	}
	var released []string
	for _, dir := range []string{".", "mech/text", "mech/vote", "mech/gradient", "mech/threshold",
		"mech/randomized"} {
		released = append(released, mechanisms(t, dir)...)
	}
	if len(released) < 14 {
		t.Errorf("found %d mechanisms: the pattern is broken", len(released))
	}
	for _, name := range released {
		// TestClaimCode of internal/arch compares the page's functions with their sources.
		if !strings.Contains(all.String(), name+"` |") {
			t.Errorf("the mechanism %s has no page in docs/claims that names it", name)
		}
	}
}

// mechanisms is the names of the functions of a package of the gate by which something that rows
// decide leaves it.
func mechanisms(t *testing.T, dir string) (names []string) {
	t.Helper()
	src := stattest.Must(filepath.Glob(filepath.Join(dir, "*.go")))
	for _, file := range src {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := stattest.Must(os.ReadFile(file))
		for _, m := range takesSession.FindAllStringSubmatch(string(text), -1) {
			if slices.Contains(noMechanism, m[1]+m[2]) {
				continue
			}
			if m[1] != "" {
				names = append(names, "."+m[1])
			} else {
				names = append(names, "`privacy/"+dir+"."+m[2])
			}
		}
	}
	return names
}

// takesSession is a method of a session, of shards or of a round, or a function that is given one.
var takesSession = regexp.MustCompile(`(?m)^func (?:\(\w+ \*(?:session|round|shardSet\[Q\])\) ` +
	`([A-Z]\w*)\(|([A-Z]\w*)\(s \*privacy\.Session\b)`)

// noMechanism lists those that release nothing that rows decide.
var noMechanism = strings.Fields(`Left Close Door Deliver Finish Leave Ledger Released Seed Schema
	Neighbours Report Run Format MarshalText Names Train Count Elsewhere View Unit`)

// allTests is the names of all tests of the module.
func allTests(t *testing.T) map[string]bool {
	out, decl := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z_]+)\(`)
	stattest.Check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range decl.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = true
		}
		return err
	}))
	return out
}
