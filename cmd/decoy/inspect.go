package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/stats"
)

func inspectCommand(t *terminal) *cobra.Command {
	var page string
	return t.verb("inspect", func(cmd *cobra.Command, t *terminal, args []string) error {
		if !cmd.Flags().Changed("report") {
			return t.inspect(args[0])
		}
		m, err := openTable(args[0])
		if err == nil {
			_, err = verifyFile(args[0], m)
		}
		if err != nil {
			return err
		}
		return t.write("--report", page, configs.ReleaseMode, func(w io.Writer) error {
			return report.Model(w, released(m))
		})
	}, flags{"report": &page})
}

// inspect prints what a file holds.
func (t *terminal) inspect(path string) error {
	m, err := openModel(path)
	if err == nil {
		return t.print(shownModel{"model", m.Manifest, path, m})
	}
	if errors.Is(err, release.ErrFormat) {
		if c, no := openClassifier(path); no == nil {
			return t.print(shownClassifier{"classifier", c, path})
		}
		if _, _, no := openLedger(path); no == nil {
			return usagef("%s is a ledger: decoy ledger show prints it", path)
		}
	}
	return err
}

// claimOf is the guarantee of a model, as reports show it.
func claimOf(m *release.Model) report.Claim {
	c := m.Claim
	return report.Claim{Method: m.Method, Epsilon: c.Epsilon, Delta: c.Delta,
		Adjacency: c.Adjacency.String(), Unit: c.Unit, MaxRowsPerUnit: c.MaxRowsPerUnit,
		Text: c.String()}
}

// released is what a model says of itself, for its page.
func released(m *release.Model) report.Released {
	out := report.Released{Method: m.Method, Tool: m.Tool, Created: m.Created, Rows: m.Rows,
		Claim: claimOf(m), Overlap: m.Claim.People == release.MayOverlap, Schema: m.Schema(),
		Fingerprint: m.SchemaSHA256, Contents: m.Outputs}
	if n := len(m.Ledger); n > 0 {
		out.Contents = m.Ledger[n-1].Outputs
	}
	for _, l := range m.Layers() {
		out.Layers = append(out.Layers, report.Layer(l))
	}
	marginals, _ := m.Uncertainty()
	for _, n := range marginals {
		out.Marginals = append(out.Marginals, report.Marginal(n))
	}
	return out
}

// openTable is openModel of one table.
func openTable(path string) (*release.Model, error) {
	m, err := openModel(path)
	if err == nil && !m.Tables().Single() {
		err = usagef("%s is a model of linked tables: 'decoy sample' draws them, 'decoy verify' and "+
			"'decoy inspect' say what it guarantees and holds; all else takes models of one table", path)
	}
	return m, err
}

// openModel reads a model from a regular file. One that is not what its run delivered is refused.
func openModel(path string) (*release.Model, error) {
	m, err := readModel(path)
	if err != nil {
		return m, err
	}
	if err = m.Whole(); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return m, err
}

// readModel is openModel of any contents.
func readModel(path string) (*release.Model, error) {
	if err := configs.Readable(path); err != nil {
		return nil, err
	}
	m, err := release.Open(path)
	if errors.Is(err, release.ErrFormat) {
		err = fmt.Errorf("%w; a model is what fit writes, and generate --model", err)
	}
	return m, err
}

// openClassifier reads a classifier; release.ErrFormat says that the file is none.
func openClassifier(path string) (*stats.Classifier, error) {
	f, err := readFile(path, stats.Read)
	if c, ok := f.(*stats.Classifier); ok || err != nil && !errors.Is(err, release.ErrFormat) {
		return c, err
	}
	return nil, &configs.Reworded{Text: path + ": not a decoy classifier", Err: release.ErrFormat}
}

// shownModel is a model's manifest.
type shownModel struct {
	Kind string `json:"kind"`
	release.Manifest
	Path  string         `json:"-"`
	Model *release.Model `json:"-"`
}

// shownClassifier is what decoy train wrote.
type shownClassifier struct {
	Kind string `json:"kind"`
	*stats.Classifier
	Path string `json:"-"`
}
