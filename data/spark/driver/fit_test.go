package driver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// fits runs decoy itself on tables of the cluster.
func (c *cluster) fits(t *testing.T) {
	c.build(t)
	// Of a file, bins that a schema does not give would be bought.
	columns := strings.Replace(nasty, "max: 2020-12-31", "max: 2020-12-31, bins: 24", 1)
	c.file(t, "rows.yaml", "decoy: 1\n"+columns, 0o644)
	c.file(t, "units.yaml", "decoy: 1\nunit: id\nmax_rows_per_unit: 4\n"+columns, 0o644)
	random := rand.New(rand.NewPCG(1, 2))
	some := func(int) int { return int(random.ExpFloat64() * 9) }
	path := c.file(t, "fit.csv", nastyCSV(2000, some), 0o644)
	other := c.file(t, "other.csv", nastyCSV(2000, some), 0o644)

	// At this epsilon all noise rounds to nothing, and the best is always selected: models are
	// functions of the counts. (The noise of aim's first rounds is larger.)
	for _, method := range []string{"mst --schema units.yaml", "mwem --schema rows.yaml"} {
		table := func(input string) string {
			c.decoy(t, 0, "fit "+input+" --epsilon 10000 --ledger "+method[:3]+".ledger --model free.decoy "+
				"--force --method "+method)
			c.decoy(t, 0, "sample free.decoy --seed 4 --rows 2000 --out free.csv --force")
			out := stattest.Must(os.ReadFile(c.dir + "/free.csv"))
			return string(out)
		}
		here := table(path)
		if there := table("sc://" + c.host + "/" + path); there != here {
			t.Errorf("%s: the model of a table in Spark samples other rows", method)
		}
		if table(other) == here {
			t.Errorf("%s: the model does not depend on the table", method)
		}
	}

	t.Run("lost in a release", func(t *testing.T) { c.lost(t, path) })
	t.Run("resume", func(t *testing.T) {
		big := c.file(t, "fitted.csv", nastyCSV(150_000, inTurn), 0o644)
		slow := c.file(t, "resumed", "#!/bin/sh\nif [ ! -e "+c.dir+"/quick ]; then\ntouch "+c.dir+
			"/resumed.began\nwhile [ \"$(head -c 4096 | wc -c)\" -gt 0 ]; do sleep 1; done\nfi\nexec "+
			c.program+" \"$@\"\n", 0o755)
		fit := "fit sc://" + c.host + "/" + big + "?worker=" + slow + " --schema units.yaml " +
			"--epsilon 1 --method mst --ledger resumed.ledger --model resumed.decoy"
		for i, how := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			os.Remove(c.dir + "/resumed.began")
			cmd := c.command(fit + []string{"", " --resume"}[i])
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c.until(t, "a task begins", func() bool { return exists(c.dir + "/resumed.began") })
			cmd.Process.Signal(how)
			if err := cmd.Wait(); err == nil {
				t.Errorf("decoy has ended well at %v", how)
			}
			c.until(t, "the tasks have ended", func() bool {
				return len(c.processes("count-worker")) == 0
			})
		}
		os.WriteFile(c.dir+"/quick", nil, 0o600)
		if out := c.decoy(t, 2, fit); !strings.Contains(out, "--resume finishes it") {
			t.Error(out)
		}
		c.decoy(t, 0, fit+" --resume")
		c.decoy(t, 0, "verify resumed.decoy")
		var shown struct {
			Runs []struct {
				Status string
			}
			Spent struct{ Epsilon float64 }
		}
		out := c.decoy(t, 0, "ledger show --json resumed.ledger")
		if err := json.Unmarshal([]byte(out), &shown); err != nil {
			t.Fatal(err)
		}
		// Interrupted, continued and interrupted again, it is paid for once.
		if got := fmt.Sprint(shown); got != "{[{done}] {1}}" {
			t.Error(out)
		}
	})
}

// build builds decoy, once.
func (c *cluster) build(t *testing.T) {
	t.Helper()
	if exists(c.dir + "/decoy") {
		return
	}
	build := exec.Command("go", "build", "-o", c.dir+"/decoy", "./cmd/decoy")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// command is decoy, in the cluster's folder.
func (c *cluster) command(args string) *exec.Cmd {
	cmd := exec.Command(cmp.Or(c.binary, c.dir+"/decoy"), strings.Fields(args)...)
	cmd.Dir = c.dir
	return cmd
}

// decoy runs decoy, whose exit status must be this one, and returns what it says.
func (c *cluster) decoy(t *testing.T, status int, args string) string {
	t.Helper()
	cmd := c.command(args)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("decoy %s: %v\n%s", args, err, out)
	}
	return string(out)
}
