package mutants

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
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
		[]edit{{"privacy/measure.go", "noise.NewRoundedGaussian(sigma)",
			"noise.NewRoundedGaussian(sigma / 2)"}},
		"counts --epsilon 8 --tables balanced --runs 1000"},
	{
		"halved sensitivity of single counts",
		[]edit{{"privacy/internal/access/access.go", "return x, x, x\n\tcase",
			"return x / 2, x / 2, x / 2\n\tcase"}},
		"total --epsilon 8 --tables balanced --runs 1000",
	},
	{
		"halved Laplace noise",
		[]edit{{"privacy/queries.go", "noise.NewDiscreteLaplace(scale)",
			"noise.NewDiscreteLaplace(scale / 2)"}},
		"answer --epsilon 1 --delta 0 --tables balanced --runs 4000",
	},
	{
		"halved noise in CertifiedSum",
		[]edit{{"privacy/internal/ellipsoid/certified.go",
			"NewSum(cert, z)", "NewSum(cert, z/2)"}},
		"certified-sum --epsilon 8 --tables balanced --runs 1000"},
	{
		"halved sensitivity in Measure",
		[]edit{{"privacy/measure.go", "access.Down(sigma, l2)", "access.Down(sigma, l2/2)"}},
		"counts --epsilon 8 --tables balanced --runs 1000",
	},
	{
		"halved sensitivity in Select",
		[]edit{{"privacy/internal/access/access.go", "return x, 2 * x, math", "return x, x, math"}},
		"select --epsilon 2 --delta 0 --adjacency replace-one --tables balanced --runs 4000"},
	{
		"a randomised answer is drawn with twice its ε",
		[]edit{{"privacy/mech/randomized/randomized.go", "noise.Select(rows.Source, scores, epsilon)",
			"noise.Select(rows.Source, scores, 2*epsilon)"}},
		"collect --epsilon 2 --runs 1000"},
	{"steps after the first are not charged", []edit{
		{"privacy/accountant/reservation.go", "\t\t\tr.spent = after\n", ""},
		{"privacy/accountant/reservation.go", "(r.spent + float64(c.Count)*cost)", "(r.spent + cost)"},
		{"synth/mst.go", "whole*one/d", "whole*one/(1+0*d)"},
		{"synth/mst.go", "whole*pair/edges", "whole*pair/(1+0*edges)"},
		{"synth/mst.go", "* sel / edges", "* sel / (1 + 0*edges)"},
	}, "mst --epsilon 8 --tables balanced --runs 1200"},
	{"reshuffled shards", []edit{
		{
			"privacy/mech/vote/shards.go", "in.teachers[i].Train(in.rows[i], shown) }",
			"in.teachers[i].Train(in.rows[rand.IntN(sh.count)], shown) }",
		},
		{"privacy/mech/vote/shards.go", "import (\n", "import (\n\t\"math/rand/v2\"\n"},
	},
		"vote --epsilon 8 --tables rare --runs 800"},
}

// TestAuditCatchesMutants builds the program with a broken mechanism and audits it.
//
//	go test ./internal/mutants -run TestAuditCatchesMutants -args -long
func TestAuditCatchesMutants(t *testing.T) {
	if !*long {
		t.Skip("skipped: runs with -args -long")
	}
	root := stattest.Must(filepath.Abs("../.."))
	dir := t.TempDir()
	schema := filepath.Join(dir, "s.yaml")
	stattest.Check(t, os.WriteFile(schema, []byte(auditSchema), 0o600))
	edits := map[string][]edit{}
	for _, m := range audited {
		edits[m.name] = m.edits
	}
	overlay, alone, err := weave(root, dir, edits)
	stattest.Check(t, err)
	program := build(t, root, dir, overlay)
	seen := map[string]bool{}
	for _, m := range audited {
		t.Run(m.name, func(t *testing.T) {
			if !seen[m.audit] {
				seen[m.audit] = true
				if out, code := audit(t, program, schema, "", m.audit); code != 0 {
					t.Errorf("the program as it is, exit code %d:\n%s", code, out)
				}
			}
			broken := program
			if slices.Contains(alone, m.name) {
				own := t.TempDir()
				broken = build(t, root, own, replaced(t, root, own, m.edits))
			}
			out, code := audit(t, broken, schema, m.name, m.audit)
			if code != 1 || !strings.Contains(out, "the claim is refuted") {
				t.Errorf("exit code %d, the audit did not notice:\n%s", code, out)
			}
		})
	}
}

// replaced writes sources with some edits to dir and returns the file for "go build -overlay".
func replaced(t *testing.T, root, dir string, edits []edit) string {
	t.Helper()
	changed := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		from, ok := changed[path]
		if !ok {
			from = path
			changed[path] = filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		}
		src := stattest.Must(os.ReadFile(from))
		if n := strings.Count(string(src), e.old); n != 1 {
			t.Fatalf("the text to change occurs %d times in %s", n, e.file)
		}
		mutant := strings.Replace(string(src), e.old, e.new, 1)
		stattest.Check(t, os.WriteFile(changed[path], []byte(mutant), 0o600))
	}
	overlay := stattest.Must(overlayOf(dir, changed))
	return overlay
}

// build makes the program, in dir.
func build(t *testing.T, root, dir, overlay string) string {
	t.Helper()
	program := filepath.Join(dir, "decoy")
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./cmd/decoy")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile, so it shows nothing:\n%s", out)
	}
	return program
}

// audit runs decoy audit with a mutant in force and returns what it says and its exit code.
func audit(t *testing.T, program, schema, mutant, args string) (string, int) {
	t.Helper()
	words := append([]string{"--quiet", "audit", "--confidence", "0.999", "--schema", schema},
		strings.Fields(args)...)
	cmd := exec.Command(program, words...)
	cmd.Env = append(os.Environ(), switchName+"="+mutant)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
