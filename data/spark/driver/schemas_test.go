package driver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// schemas buys schemas and reports on units, of a table here and of the same one in the cluster. At
// this epsilon all noise rounds to nothing.
func (c *cluster) schemas(t *testing.T) {
	c.build(t)
	const free = " --epsilon 10000 --delta 1e-9 "
	random := rand.New(rand.NewPCG(3, 4))
	rows := nastyCSV(2000, func(int) int { return random.IntN(40) })
	whole := c.file(t, "whole.csv", rows, 0o644)
	rows = strings.NewReplacer("a\nb", `a\b`, "z\nz", "ö").Replace(rows) // else a line is not a row
	path := c.file(t, "unknown.csv", rows, 0o644)
	c.file(t, "bound.yaml", "decoy: 1\nunit: id\nmax_rows_per_unit: 3\n"+nasty, 0o644)
	// The last question has noise: of days, and in the order of numbers that are codes.
	there, days := "sc://"+c.host+"/"+path, regexp.MustCompile(`\n +- "\d{4}-\d\d-\d\d"`)
	codes := regexp.MustCompile(`categories: \[.*"1e1".*\]`)
	inOrder := func(list string) string {
		texts := strings.Split(strings.Trim(list, "categories: []"), ", ")
		slices.Sort(texts)
		return fmt.Sprint(texts)
	}

	t.Run("infer", func(t *testing.T) {
		files, _ := filepath.Glob(*tables + "/*.csv")
		for i, input := range append(files, path) {
			var bought [2]string
			for j, from := range []string{input, "sc://" + c.host + "/" + input} {
				c.decoy(t, 0, "schema infer "+from+free+"--header-is-public --force --out bought.yaml "+
					fmt.Sprintf("--ledger infer%d%d.ledger", i, j))
				bought[j] = codes.ReplaceAllStringFunc(days.ReplaceAllString(string(stattest.Must(
					os.ReadFile(filepath.Join(c.dir, "bought.yaml")))), ""), inOrder)
			}
			if bought[0] != bought[1] {
				t.Errorf("%s: here\n%s\nthere\n%s", input, bought[0], bought[1])
			}
		}
	})
	t.Run("units", func(t *testing.T) {
		ragged := c.file(t, "ragged.csv", raggedCSV(random), 0o644)
		for i, flags := range []string{" --schema bound.yaml", " --unit id --max-rows-per-unit 2"} {
			input := []string{whole, ragged}[i]
			report := func(from string) string {
				out := c.decoy(t, 0, "schema units "+from+flags+free+"--ledger units"+
					strings.Repeat("x", i)+".ledger")
				at := strings.Index(out, "ROWS")
				if at < 0 {
					t.Fatal(out)
				}
				out, _, _ = strings.Cut(out[at:], "\nignored:")
				return strings.TrimSpace(out)
			}
			here := report(input)
			if got := report("sc://" + c.host + "/" + input); got != here {
				t.Errorf("here\n%s\nthere\n%s", here, got)
			}
		}
	})
	t.Run("bought schemas resume", func(t *testing.T) {
		// The first query is slow until decoy is killed; what it has paid for is not paid again.
		slow := c.file(t, "infers", "#!/bin/sh\nif [ ! -e "+c.dir+"/infer.quick ]; then\ntouch "+c.dir+
			"/infer.began\nwhile [ ! -e "+c.dir+"/infer.quick ]; do sleep .2; done\nfi\nexec "+
			c.program+" \"$@\"\n", 0o755)
		buy := "schema infer " + there + "?worker=" + slow + " --header-is-public --epsilon 5 " +
			"--unit id --max-rows-per-unit 4 --out resumed.yaml --ledger resumed.infer.ledger"
		cmd := c.command(buy)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.until(t, "a task begins", func() bool { return exists(c.dir + "/infer.began") })
		cmd.Process.Signal(syscall.SIGKILL)
		if err := cmd.Wait(); err == nil {
			t.Error("decoy has ended well")
		}
		os.WriteFile(c.dir+"/infer.quick", nil, 0o600)
		c.until(t, "the tasks have ended", func() bool {
			return len(c.processes("count-worker")) == 0
		})
		c.decoy(t, 0, buy+" --resume")
		c.decoy(t, 0, "schema check resumed.yaml")
	})
}

// raggedCSV has units of one to forty rows, and rows of nobody.
func raggedCSV(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("v,id\n")
	for unit := range 300 {
		for range 1 + int(random.ExpFloat64()*5) {
			fmt.Fprintf(&b, "%d,u%d\n", unit%7, unit)
		}
		if unit%9 == 0 {
			b.WriteString("x,\n")
		}
	}
	return b.String()
}

// TestTextsOfOneTable: which rows of a unit are kept follows from whole lines, so all questions of
// a run about texts have the same, whichever columns they are about.
func TestTextsOfOneTable(t *testing.T) {
	columns := map[string]string{"id": "string", "a": "string", "b": "bigint", "c": "array<int>"}
	plan := func(head string, columns map[string]string, asked ...int) ([]string, error) {
		var of []engine.Text
		for _, i := range asked {
			of = append(of, engine.Text{Column: i})
		}
		q := engine.AskTexts(engine.Spelled, of)
		s := parse(t, head+"columns: [{name: a, kind: boolean}, {name: b, kind: boolean}, "+
			"{name: c, kind: boolean}]")
		j := &job{Request: engine.Request{Question: q}, source: &Source{}, schema: s, kinds: columns}
		_, err := j.bind()
		return j.cells, err
	}
	unit := "unit: id\nmax_rows_per_unit: 1\n"
	both, err := plan(unit, columns, 0, 1)
	one, err2 := plan(unit, columns, 0)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if len(both) != 2 || !slices.Equal(one, both) {
		t.Errorf("lines of %v, and of %v", both, one)
	}
	if alone, err := plan("", columns, 0); err != nil || len(alone) != 1 {
		t.Errorf("without an id column: %v, %v", alone, err)
	}
	for _, asked := range []int{1, 2} {
		few := map[string]string{"id": "string", "a": "string"}
		if _, err := plan(unit, few, 0, asked); !errors.Is(err, schema.ErrSchema) {
			t.Errorf("without column %d: %v", asked, err)
		}
	}
}
