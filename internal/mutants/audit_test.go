package mutants

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// auditSchema is what the audits of these tests know. So many columns that steps which are not
// charged stand out of 250 runs of a method.
const auditSchema = `decoy: 1
columns:
  - {name: ward, kind: categorical, categories: [a, b, c]}
  - {name: ill, kind: boolean}
  - {name: sex, kind: boolean}
  - {name: age, kind: categorical, categories: [young, old]}
  - {name: insured, kind: boolean}
  - {name: married, kind: boolean}
  - {name: smokes, kind: boolean}
  - {name: returned, kind: boolean}
`

// edit replaces a text that occurs exactly once in a file.
type edit struct{ file, old, new string }

// audited are programs with a broken mechanism, and the audit that must refute their claim. At 99.9
// % confidence an honest program is refuted by one of these audits in a thousand; the program as it
// is must pass each audit too.
var audited = []struct {
	name  string
	edits []edit
	audit string // after "decoy audit --confidence 0.999 --schema s.yaml"
}{
	{
		"halved Gaussian noise",
		[]edit{{"privacy/measure.go", "g.AddTo(counts, rows.Source)",
			"h, _ := noise.NewRoundedGaussian(sigma / 2); h.AddTo(counts, rows.Source); _ = g"}},
		"counts --epsilon 8 --tables balanced --runs 1000"},
	{
		"halved sensitivity of single counts",
		[]edit{{"privacy/internal/access/query.go", "return x, x, x\n\tcase",
			"return x / 2, x / 2, x / 2\n\tcase"}},
		"total --epsilon 8 --tables balanced --runs 1000",
	},
	{
		"halved Laplace noise",
		[]edit{{"privacy/laplace/laplace.go", "counts[i] += lap.Sample(rows.Source)",
			"counts[i] += lap.Sample(rows.Source) / 2"}},
		"answer --epsilon 1 --delta 0 --tables balanced --runs 4000",
	},
	{
		"halved noise in CertifiedSum",
		[]edit{{"privacy/internal/ellipsoid/certified.go",
			"cert.ScalesTo(out.Scales, z)", "cert.ScalesTo(out.Scales, z/2)"}},
		"certified-sum --epsilon 8 --tables balanced --runs 1000"},
	{
		"halved sensitivity in Measure",
		[]edit{{"privacy/measure.go", "access.Down(sigma, l2)", "access.Down(sigma, l2/2)"}},
		"counts --epsilon 8 --tables balanced --runs 1000",
	},
	{
		"halved sensitivity in Select",
		[]edit{{"privacy/internal/access/query.go", "return x, 2 * x, math", "return x, x, math"}},
		"select --epsilon 2 --delta 0 --adjacency replace-one --tables balanced --runs 4000"},
	{
		"a randomised answer is drawn with twice its ε",
		[]edit{{"privacy/randomized/randomized.go", "noise.Select(rows.Source, scores, epsilon)",
			"noise.Select(rows.Source, scores, 2*epsilon)"}},
		"collect --epsilon 2 --runs 1000"},
	{"steps after the first are not charged", []edit{
		{"accountant/reservation.go", "\t\t\tr.spent = after\n", ""},
		{"accountant/reservation.go", "(r.spent + float64(c.Count)*cost)", "(r.spent + cost)"},
		{"synth/mst/mst.go", "whole*one/d", "whole*one/(1+0*d)"},
		{"synth/mst/mst.go", "whole*pair/edges", "whole*pair/(1+0*edges)"},
		{"synth/mst/mst.go", "* sel / edges", "* sel / (1 + 0*edges)"},
	}, "mst --epsilon 8 --tables balanced --runs 250"},
	{"reshuffled shards", []edit{
		{
			"privacy/vote/shards.go", "in.teachers[i].Train(in.rows[i], shown) }",
			"in.teachers[i].Train(in.rows[rand.IntN(sh.count)], shown) }",
		},
		{"privacy/vote/shards.go", "import (\n", "import (\n\t\"math/rand/v2\"\n"},
	},
		"vote --epsilon 8 --tables rare --runs 400"},
}

// TestAuditCatchesMutants builds the program with a broken mechanism and audits it.
//
//	go test ./internal/mutants -run TestAuditCatchesMutants -args -long
func TestAuditCatchesMutants(t *testing.T) {
	if !*long {
		t.Skip("skipped: runs with -args -long")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	schema := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(schema, []byte(auditSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	honest := build(t, root, dir, nil)
	seen := map[string]bool{}
	for _, m := range audited {
		t.Run(m.name, func(t *testing.T) {
			if !seen[m.audit] {
				seen[m.audit] = true
				if out, code := audit(t, honest, schema, m.audit); code != 0 {
					t.Errorf("the program as it is, exit code %d:\n%s", code, out)
				}
			}
			out, code := audit(t, build(t, root, t.TempDir(), m.edits), schema, m.audit)
			if code != 1 || !strings.Contains(out, "the claim is refuted") {
				t.Errorf("exit code %d, the audit did not notice:\n%s", code, out)
			}
		})
	}
}

// build makes the program with some edits, in dir.
func build(t *testing.T, root, dir string, edits []edit) string {
	t.Helper()
	changed := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		copied, ok := changed[path]
		if !ok {
			copied = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
			changed[path] = copied
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied, src, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		src, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(src), e.old); n != 1 {
			t.Fatalf("the text to change occurs %d times in %s", n, e.file)
		}
		mutant := strings.Replace(string(src), e.old, e.new, 1)
		if err := os.WriteFile(copied, []byte(mutant), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": changed})
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "decoy")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", list, "-o", program, "./cmd/decoy")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile, so it shows nothing:\n%s", out)
	}
	return program
}

// audit runs decoy audit and returns what it says and its exit code.
func audit(t *testing.T, program, schema, args string) (string, int) {
	t.Helper()
	words := append([]string{"--quiet", "audit", "--confidence", "0.999", "--schema", schema},
		strings.Fields(args)...)
	cmd := exec.Command(program, words...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
