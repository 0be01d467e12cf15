package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/release"
)

func inspectCommand(t *terminal) *cobra.Command {
	var page string
	return t.verb("inspect", func(cmd *cobra.Command, t *terminal, args []string) error {
		if !cmd.Flags().Changed("report") {
			return inspect(t, args[0])
		}
		return t.pageOf(args[0], page)
	}, flags{"report": &page})
}

// pageOf writes the page about a model.
func (t *terminal) pageOf(path, page string) error {
	m, err := openModel(path)
	if err != nil {
		return err
	}
	if _, err := verifyFile(path, m); err != nil {
		return err
	}
	return t.write("--report", page, configs.ReleaseMode, "", func(w io.Writer) error {
		return report.Model(w, released(m))
	})
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
		Claim: claimOf(m), Overlap: m.Claim.People == release.MayOverlap, Schema: m.Schema()}
	for _, l := range m.Layers() {
		out.Layers = append(out.Layers, report.Layer(l))
	}
	if u, err := m.Uncertainty(); err == nil {
		for _, n := range u.Marginals {
			out.Marginals = append(out.Marginals, report.Marginal(n))
		}
	}
	return out
}

// inspect tells a model, which is a zip archive, from a ledger, which is JSON.
func inspect(t *terminal, path string) error {
	kind, err := sniff(path)
	if err != nil {
		return err
	}
	switch kind {
	case 'P':
		m, err := openModel(path)
		if err != nil {
			return err
		}
		return t.print(shownModel{"model", m.Manifest, path, m})
	case '{':
		if c, err := openClassifier(path); !errors.Is(err, release.ErrFormat) {
			if err != nil {
				return err
			}
			return t.print(shownClassifier{"classifier", c, path})
		}
		return showLedger(t, path)
	}
	return fmt.Errorf("%s is neither a model nor a ledger", path)
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

// sniff is the first byte of a file, 0 if it is empty.
func sniff(path string) (byte, error) {
	if err := configs.Readable(path); err != nil {
		return 0, err
	}
	b, err := readFile(path, func(r io.Reader) (byte, error) { return bufio.NewReader(r).ReadByte() })
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b, err
}

// shownModel is a model's manifest.
type shownModel struct {
	Kind string `json:"kind"`
	release.Manifest
	path  string
	model *release.Model
}

func (s shownModel) text(w io.Writer) {
	m := s.model
	fmt.Fprintf(w, "model\t%s, format %d\n", spelling.Visible(s.path), m.Format)
	fmt.Fprintf(w, "guarantee\t%v\n", m.Claim)
	for _, text := range m.Schema().Constraints() {
		fmt.Fprintf(w, "taken as public\t%s\n", spelling.Visible(text))
	}
	fmt.Fprintf(w, "made\t%s by %s, method %s\n", stamp(m.Created), spelling.Visible(m.Tool),
		spelling.Visible(m.Method))
	if m.Claim.Local {
		fmt.Fprintf(w, "answers\t%.0f\n", m.Rows)
	} else {
		fmt.Fprintf(w, "rows\t%.1f, a noisy count\n", m.Rows)
	}
	fmt.Fprintf(w, "schema\t%s, SHA-256 %s\n", sizeText(len(m.Schema().Columns), cells(m.Schema())),
		spelling.Visible(m.SchemaSHA256))
	fmt.Fprintf(w, "parameters\t%s, %s\n", spelling.Visible(m.Parameters.Kind),
		spelling.Size(int64(m.Parameters.Bytes)))
	for _, line := range m.Describe() {
		fmt.Fprintf(w, "\t%s\n", line)
	}
	head := "settings"
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		value, _ := json.Marshal(m.Settings[name]) // which was JSON in the file
		fmt.Fprintf(w, "%s\t%s: %s\n", head, spelling.Visible(name), spelling.Visible(string(value)))
		head = ""
	}
	fmt.Fprintln(w)
	columnsOf(m.Schema()).text(w)
	if len(m.Ledger) > 0 {
		fmt.Fprintln(w)
		runsText(w, (&ledger.Ledger{Entries: m.Ledger}).Runs())
	}
	for _, p := range m.Parties {
		fmt.Fprintf(w, "\nparty\t%s, method %s, %.1f rows\n", spelling.Visible(p.Name),
			spelling.Visible(p.Method), p.Rows)
		fmt.Fprintf(w, "guarantee\t%v\n", p.Claim)
		runsText(w, (&ledger.Ledger{Entries: p.Ledger}).Runs())
	}
}

// shownClassifier is what decoy train wrote.
type shownClassifier struct {
	Kind string `json:"kind"`
	*analysis.Classifier
	path string
}

func (s shownClassifier) text(w io.Writer) {
	c := s.Classifier
	fmt.Fprintf(w, "classifier\t%s, format %d\n", spelling.Visible(s.path), c.Format)
	fmt.Fprintf(w, "guarantee\t%v\n", c.Claim)
	fmt.Fprintf(w, "made\tby %s, method %s\n", spelling.Visible(c.Tool), spelling.Visible(c.By))
	if c.Rows > 0 {
		fmt.Fprintf(w, "rows\t%.1f, a noisy or a public count\n", c.Rows)
	}
	fmt.Fprintf(w, "predicts\t%s: %s\n", spelling.Visible(c.Target),
		spelling.Visible(strings.Join(c.Classes, ", ")))
	head := "from"
	for _, f := range c.Features {
		fmt.Fprintf(w, "%s\t%s, %d cells\n", head, spelling.Visible(f.Column), len(f.Values))
		head = ""
	}
	fmt.Fprintln(w)
	runsText(w, (&ledger.Ledger{Entries: c.Ledger}).Runs())
}
