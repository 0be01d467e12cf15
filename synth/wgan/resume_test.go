package wgan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// resumable are settings of a run of a second, with a release in every tenth of it.
var resumable = Config{Steps: 6, GeneratorSteps: 20, PostSteps: 60, Batch: 64, Hidden: []int{8}, GeneratorUnits: 16, Target: "column 1"}

var resumeBudget = accountant.Budget{Epsilon: 2, Delta: 1e-6}

// continued fits in the directory: a new run, or that of its checkpoint.
func continued(t *testing.T, dir string, c Config) error {
	f, err := New(c)
	if err != nil {
		return err
	}
	s := synthtest.Schema(4)
	o := synth.RunOptions{Budget: resumeBudget, Ledger: privacy.NewLedgerFile(filepath.Join(dir, "l")), Checkpoint: filepath.Join(dir, "c")}
	if _, o.Resume, err = synth.Interrupted(o.Checkpoint, o.Ledger); err != nil {
		return err
	}
	m, _, err := synth.Run(context.Background(), privacy.FromTable(synthtest.Table(t, s, 500)), f, o)
	if err != nil {
		return err
	}
	if _, err := m.Verify(); err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := m.Write(&buf); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "m"), buf.Bytes(), 0o600)
}

// TestKilledRunIsContinued kills a fit at random moments until it is done: the ledger is charged once.
func TestKilledRunIsContinued(t *testing.T) {
	if dir := os.Getenv("DECOY_TEST_DIR"); dir != "" {
		if err := continued(t, dir, resumable); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	from := time.Duration(0)
	dir := t.TempDir()
	kills, checkpoints := 0, 0
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRunIsContinued$")
		cmd.Env = append(os.Environ(), "DECOY_TEST_DIR="+dir, "GOMAXPROCS=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(filepath.Join(dir, "l"), kills) // so that it is killed while it fits, not while it starts
		kill := time.AfterFunc(from+time.Duration(rand.Int64N(int64(60*time.Millisecond)+int64(kills)*int64(10*time.Millisecond))), func() { cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		if err == nil {
			break
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("after %d kills: %s", kills, out.String())
		}
		kills++
		if l, err := privacy.NewLedgerFile(filepath.Join(dir, "l")).Read(); err == nil && len(l.Runs()) > 0 && l.Runs()[0].Status == accountant.StatusDone {
			break // killed after its end
		}
		if _, err := os.Stat(filepath.Join(dir, "c")); err == nil {
			checkpoints++
		} else if l, err := privacy.NewLedgerFile(filepath.Join(dir, "l")).Read(); err == nil && len(l.Runs()) > 0 && l.Runs()[0].Status == accountant.StatusUnfinished {
			os.Remove(filepath.Join(dir, "l")) // killed before the first checkpoint: nothing to continue, so begin again
		}
		if kills > 40 { // let it run
			from = time.Minute
		}
	}
	l, err := privacy.NewLedgerFile(filepath.Join(dir, "l")).Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(); err != nil {
		t.Error(err)
	}
	if runs := l.Runs(); len(runs) != 1 || runs[0].Status != accountant.StatusDone || l.Spent() != resumeBudget {
		t.Errorf("after %d kills: %+v", kills, runs)
	}
	t.Logf("%d kills, %d with a checkpoint", kills, checkpoints)
}

// await waits until the ledger has grown for the (n+1)th time, or two seconds.
func await(path string, n int) {
	before, _ := os.ReadFile(path)
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if now, _ := os.ReadFile(path); len(now) > len(before) || n < 0 {
			return
		}
	}
}

// interrupt fits until a panic of the checkpoint's write number n, as a kill after the charge and before the write would; the session is left as it is.
func interrupt(t *testing.T, dir string, c Config, n int) (written int) {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := synthtest.Schema(4)
	p, err := f.Plan(s, privacy.NeighboursOf(s, 0), resumeBudget)
	if err != nil {
		t.Fatal(err)
	}
	options := privacy.Options{Budget: resumeBudget, Plan: p.Composition(), Method: Name}
	session, err := privacy.Open(context.Background(), privacy.FromTable(synthtest.Table(t, s, 500)), options)
	if err != nil {
		t.Fatal(err)
	}
	var state []byte
	type stop struct{}
	fit := func(n int) (done bool) {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(stop); !ok {
					panic(r)
				}
			}
		}()
		save := func(b []byte) error {
			if written++; n >= 0 && written > n {
				panic(stop{})
			}
			state = bytes.Clone(b)
			return nil
		}
		m, err := p.(synth.Resumer).FitFrom(context.Background(), session, state, save, nil)
		if err != nil {
			t.Fatalf("interrupted at write %d: %v", n, err)
		}
		if n >= 0 {
			return true
		}
		want := 1
		if lost := m.Settings["lost_releases"]; lost != want {
			t.Errorf("interrupted at write %d: %v releases lost, want %d", n, lost, want)
		}
		return true
	}
	if fit(n) {
		return -1
	}
	fit(-1)
	return written
}

// TestLostRelease: whichever release dies between its charge and its checkpoint, the fit goes on without it, and charges nothing twice.
func TestLostRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and slow under the race detector")
	}
	for name, c := range map[string]Config{
		"pool": {Steps: 4, GeneratorSteps: 4, PostSteps: 8, Batch: 64, Hidden: []int{8}, GeneratorUnits: 16, Target: "column 1"}, "named": {Preset: Small, Steps: 4, GeneratorSteps: 4, PostSteps: 8, Batch: 64, Hidden: []int{8}, GeneratorUnits: 16},
		"deep":         {Steps: 4, GeneratorSteps: 4, PostSteps: 8, Batch: 64, Hidden: []int{8, 6}, GeneratorUnits: 16},
		"interpolates": {Lipschitz: interpolates, Steps: 4, GeneratorSteps: 4, PostSteps: 8, Batch: 64, Hidden: []int{8}, GeneratorUnits: 16},
		"Poisson":      {Rate: .5, Steps: 4, GeneratorSteps: 4, PostSteps: 8, Batch: 64, Hidden: []int{8}, GeneratorUnits: 16},
	} {
		tables := 3 // with a target
		if c.Target == "" {
			tables = 4
		}
		for n := range 1 + tables + c.Steps {
			if interrupt(t, t.TempDir(), c, n) < 0 {
				t.Errorf("%s: the fit ended before write %d", name, n)
			}
		}
	}
}

func TestNothingToContinue(t *testing.T) {
	c := resumable
	c.Target, c.ColdStart = "", true
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := synthtest.Schema(4)
	p, err := f.Plan(s, privacy.NeighboursOf(s, 0), resumeBudget)
	if err != nil {
		t.Fatal(err)
	}
	session, err := privacy.Open(context.Background(), privacy.FromTable(synthtest.Table(t, s, 500)), privacy.Options{Budget: resumeBudget, Plan: p.Composition()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Total("number of rows", p.(*plan).total); err != nil {
		t.Fatal(err)
	}
	if _, err := p.(synth.Resumer).FitFrom(context.Background(), session, nil, func([]byte) error { return nil }, nil); !errors.Is(err, privacy.ErrPlan) {
		t.Errorf("%v, want ErrPlan", err)
	}
}

func TestStateRefuses(t *testing.T) {
	st, err := decodeState(nil, resumable)
	if err != nil {
		t.Fatal(err)
	}
	data, err := st.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeState(data, resumable); err != nil {
		t.Error(err)
	}
	other := resumable
	other.Steps++
	if _, err := decodeState(data, other); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("other settings: %v", err)
	}
	for n := range data {
		if _, err := decodeState(data[:n], resumable); err == nil {
			t.Fatalf("cut at %d: accepted", n)
		}
	}
}

// FuzzState: no checkpoint makes a fit panic.
func FuzzState(f *testing.F) {
	st, _ := decodeState(nil, resumable)
	st.HasRows, st.Rows, st.Step = true, 500, 1
	data, err := st.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	fitter, err := New(resumable)
	if err != nil {
		f.Fatal(err)
	}
	s := synthtest.Schema(4)
	p, err := fitter.Plan(s, privacy.NeighboursOf(s, 0), resumeBudget)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := decodeState(data, resumable)
		if err != nil {
			return
		}
		session, err := privacy.Open(context.Background(), privacy.FromTable(synthtest.Table(t, s, 50)), privacy.Options{Budget: resumeBudget, Plan: p.Composition()})
		if err != nil {
			t.Fatal(err)
		}
		p.(*plan).start(&purse{s: session, state: st, save: func([]byte) error { return nil }, resumable: true})
	})
}

// TestFits: a critic of another shape in a checkpoint is not taken.
func TestFits(t *testing.T) {
	e, err := gan.NewEncoderOf([]int{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	train := &training{plan: &plan{cfg: Config{Hidden: []int{4, 3}}}, encoder: e}
	for _, c := range []struct {
		hidden []int
		slope  float32
		want   bool
	}{{[]int{4, 3}, 0, true}, {[]int{4}, 0, false}, {[]int{4, 3, 3}, 0, false}, {[]int{4, 2}, 0, false}, {[]int{3, 3}, 0, false}, {[]int{4, 3}, .2, false}} {
		critic, err := gan.NewCritic(e, gan.CriticOptions{Hidden: c.hidden, Slope: c.slope}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := train.fits(critic); got != c.want {
			t.Errorf("%v, slope %v: %v", c.hidden, c.slope, got)
		}
	}
}
