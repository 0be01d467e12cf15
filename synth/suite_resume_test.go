package synth

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// errKept stands for whatever keeps an output from becoming durable.
var errKept = errors.New("the output could not be kept")

// resumes interrupts runs with a journal at a few places and continues them. No answer is bought
// twice, and the run costs its plan once. Continued once more on another table, a run whose answers
// are all there makes the same model, byte for byte: what is released is a function of the answers
// and of public things, and of the rows through nothing else.
func resumes(t *testing.T, f Fitter, columns int) {
	tab := synthtest.Table(t, synthtest.Schema(columns), 300)
	other := synthtest.Table(t, synthtest.Schema(columns), 211)
	ctx := context.Background()
	reports := 0
	whole, _, err := Run(ctx, privacy.FromTable(tab), f,
		RunOptions{Options: privacy.Options{Budget: one}, Progress: func(string,
			float64) {
			reports++
		}})
	stattest.Check(t, err)
	for _, at := range []int{2, max(2, reports/2), reports} { // the first is before the reservation
		dir := t.TempDir()
		file := ledger.NewFile(filepath.Join(dir, "ledger"))
		model := func(m *bytes.Buffer) func(*release.Model) error {
			return func(r *release.Model) error { return errors.Join(errKept, r.Write(m)) }
		}
		run := func(tab *table.Table, o RunOptions) error {
			o.Budget, o.Ledger, o.Journal, o.Tool = one, file, filepath.Join(dir, "journal"),
				"synthtest"
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			n := 0
			o.Progress = func(string, float64) {
				if n++; n == at && !o.Resume {
					cancel()
				}
			}
			_, _, err := Run(ctx, privacy.FromTable(tab), f, o)
			return err
		}
		if err := run(tab, RunOptions{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted at report %d of %d: %v", at, reports, err)
		} else if err == nil { // the last report may come too late to interrupt anything
			continue
		}
		var first, again bytes.Buffer
		if err := run(tab, RunOptions{Options: privacy.Options{Resume: true},
			Deliver: model(&first)}); !errors.Is(err,
			errKept) {
			t.Fatalf("continued from report %d of %d: %v", at, reports, err)
		}
		before := stattest.Must(file.Read())
		if err := run(tab, RunOptions{Deliver: model(&again)}); !errors.Is(err,
			privacy.ErrUnfinished) || again.Len() > 0 {
			t.Errorf("a second run in its place: %v", err)
		}
		if err := run(other, RunOptions{Options: privacy.Options{Resume: true},
			Deliver: model(&again)}); !errors.Is(err, errKept) {
			t.Fatalf("continued on another table: %v", err)
		}
		if !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf(
				"interrupted at report %d: the same answers make another model on another table",
				at)
		}
		after := stattest.Must(file.Read())
		count := func(l *ledger.Ledger) (n int) {
			for _, c := range l.Runs()[0].Charged {
				n += c.Count
			}
			return n
		}
		if count(before) != count(after) || after.Spent() != one {
			t.Errorf("%d calls, then %d; spent %+v", count(before), count(after), after.Spent())
		}
		stattest.Check(t, run(tab, RunOptions{Options: privacy.Options{Resume: true}}))
		if l, err := file.Read(); err != nil || l.Verify(pld.Epsilon) != nil ||
			l.Runs()[0].Status != ledger.StatusDone {
			t.Errorf("the ledger of a run that was continued: %v", err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
			t.Errorf("it left %v", files)
		}
	}
	stattest.Passes(t, stattest.Err(whole.Verify(pld.Epsilon)), "")
}
