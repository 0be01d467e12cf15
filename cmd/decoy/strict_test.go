package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestStrictLimitChargesVoidRuns asks a column for its maximum, by runs whose schema allows a
// little more each time and which end before the first mechanism. Under a strict limit they are
// refused once they have used up the budget; all of them are to be seen in the ledger.
func TestStrictLimitChargesVoidRuns(t *testing.T) {
	for _, c := range []struct {
		flags string
		asked int // of 8 runs, how many read the file
	}{{"", 8}, {" --strict", 4}} {
		t.Run(c.flags, func(t *testing.T) {
			t.Chdir(t.TempDir())
			check(t, os.WriteFile("t.csv", []byte("a\n70\n13\n"), 0o600))
			say := func(args string) (code int, stdout,
				stderr string) {
				return decoy(strings.Fields(args)...)
			}
			if code, _, text := say("ledger limit t.csv.ledger --unit row --epsilon 2 --delta 1e-6" +
				c.flags); code != 0 {
				t.Fatal(text)
			}
			asked := 0
			for i := range 8 {
				schema := fmt.Sprintf("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: 0, max: %d}\n",
					20+5*i)
				check(t, os.WriteFile("s.yaml", []byte(schema), 0o600))
				code, _, text := say(fmt.Sprintf("fit t.csv --schema s.yaml --epsilon 0.5 --model %d.decoy", i))
				switch {
				case code == exitData:
					asked++
					if stays := strings.Contains(text, "the budget of this run stays spent, though no "+
						"mechanism"); stays != (c.flags != "") {
						t.Errorf("run %d says\n%s", i, text)
					}
				case code != exitBudget:
					t.Fatalf("run %d: exit code %d\n%s", i, code, text)
				}
			}
			if asked != c.asked {
				t.Errorf("%d runs read the file, want %d", asked, c.asked)
			}
			_, out, _ := say("ledger show t.csv.ledger")
			spent := "spent   epsilon 0,"
			kind := "8 runs broke off before the first mechanism and cost nothing"
			if c.flags != "" {
				spent, kind = "spent   epsilon 2,", "4 runs, charged: the limit in force"
			}
			if !strings.Contains(out, spent) || !strings.Contains(out, kind) ||
				strings.Count(out, " void\n") != c.asked {
				t.Errorf("%s", out)
			}
			var shown struct {
				Void    int
				Charged int `json:"void_charged"`
			}
			_, out, _ = say("ledger show --json t.csv.ledger")
			check(t, json.Unmarshal([]byte(out), &shown))
			if shown.Void != c.asked || shown.Charged != map[bool]int{true: c.asked}[c.flags != ""] {
				t.Errorf("as JSON %+v", shown)
			}
			if code, _, text := say("ledger verify t.csv.ledger"); code != 0 {
				t.Error(text)
			}
			// A new limit gives nothing back, and stays strict until that is given up by hand.
			say("ledger limit t.csv.ledger --epsilon 3 --delta 1e-6")
			_, out, _ = say("ledger show t.csv.ledger")
			if got := strings.Contains(out, ", strict)"); got != (c.flags != "") ||
				!strings.Contains(out, spent) {
				t.Errorf("after a second limit:\n%s", out)
			}
			say("ledger limit t.csv.ledger --epsilon 3 --delta 1e-6 --strict=false")
			_, out, _ = say("ledger show t.csv.ledger")
			if strings.Contains(out, ", strict)") || !strings.Contains(out, spent) {
				t.Errorf("after a third limit:\n%s", out)
			}
		})
	}
}

// TestBatchUnderAStrictLimit: a job whose rows do not fit the schema is paid for once, however
// often the batch is started, until somebody says that it shall be paid for again.
func TestBatchUnderAStrictLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.WriteFile("t.csv", []byte("a\n70\n"), 0o600))
	check(t, os.WriteFile("s.yaml", []byte("decoy: 1\ncolumns:\n  - {name: a, kind: integer, min: "+
		"0, max: 9}\n"), 0o600))
	check(t, os.WriteFile("jobs.yaml", []byte("name: b\ntables: [{name: t, input: t.csv, schema: "+
		"s.yaml, "+
		"limit: {epsilon: 9, delta: 1e-6, strict: true}}]\nepsilons: [1]\n"+
		"job: {out: o.csv, strict: true}\n"), 0o600))
	for i, c := range []struct{ flags, spent string }{{"", "epsilon 1,"}, {"", "epsilon 1,"},
		{"--on-interrupted rerun", "epsilon 2,"}} {
		code, _, text := decoy(append([]string{"batch", "jobs.yaml"}, strings.Fields(c.flags)...)...)
		_, out, _ := decoy("ledger", "show", "t.csv.ledger")
		if code != exitError || !strings.Contains(out, "spent   "+c.spent) ||
			!strings.Contains(out, ", strict)") {
			t.Errorf("start %d: exit code %d\n%s%s", i, code, text, out)
		}
	}
}
