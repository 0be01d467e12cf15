package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/synth"
)

// outcome asks a person at a terminal which column will be predicted, if nothing was said of it and
// the method can favour one; where nobody can answer it says how to name one. Only the names of the
// columns, and the sizes of a schema, are looked at.
func (g *generate) outcome(cmd *cobra.Command, t *terminal, j *configs.Task) error {
	settings, _ := synth.Settings(synth.Named(j.Method))
	f := cmd.Flag("target")
	can := slices.ContainsFunc(settings, func(s synth.Setting) bool { return s.Key == f.Name })
	if f.Changed || !can || j.Domain == nil && !j.HeaderIsPublic ||
		slices.ContainsFunc(j.Settings, func(s configs.Given) bool { return s.Key == f.Name }) {
		return nil
	}
	names, likely := j.Outcomes()
	if len(names) < 2 {
		return nil
	}
	if likely != "" {
		likely = fmt.Sprintf(" (perhaps %q)", likely)
	}
	if stderr, ok := t.stderr.(*os.File); ok && !t.quiet && term.IsTerminal(int(stderr.Fd())) &&
		term.IsTerminal(int(os.Stdin.Fd())) {
		if err := j.Affords(); err != nil && !g.resume {
			return err
		}
		name, err := askOutcome(cmd.Context(), os.Stdin, t.stderr, names, likely)
		if err != nil || name == "" {
			return err
		}
		return j.Favour(configs.Given{Key: f.Name, Value: name, From: "--" + f.Name})
	}
	signal.Ignore(syscall.SIGPIPE) // nobody need listen
	t.say("no outcome is named: if people will predict a column%s, --target COLUMN favours its "+
		"relations", likely)
	return nil
}

// askOutcome asks until the answer is a column, or empty: there is none. likely is what is said of
// the outcome that it may be.
func askOutcome(
	ctx context.Context, in io.Reader, out io.Writer, names []string, likely string,
) (string, error) {
	lines, ended := linesOf(in)
	for {
		fmt.Fprintf(out, "Which column will people predict: the outcome, if there is one%s? "+
			"(Enter: none) ", spelling.Visible(likely))
		select {
		case <-ctx.Done():
			fmt.Fprintln(out)
			return "", ctx.Err()
		case <-ended:
			return "", nil
		case name := <-lines:
			if name = strings.TrimSpace(name); name == "" || slices.Contains(names, name) {
				return name, nil
			}
			if strings.EqualFold(name, "none") {
				return "", nil
			}
			hint := spelling.Hint(name, names)
			if hint == "" {
				hint = "; there are " + strings.Join(names, ", ") + "."
			}
			fmt.Fprintf(out, "There is no column %q%s\n", name, spelling.Visible(hint))
		}
	}
}

// sayFavoured names the columns whose relations the method favoured, and what to do if nobody has
// named them.
func sayFavoured(t *terminal, m *release.Model) {
	named, _ := m.Settings["target"].(string)
	guessed, _ := m.Settings["favoured"].([]any)
	switch {
	case named != "":
		t.say("the relations of %q come first, as far as the noise leaves any", named)
	case len(guessed) > 0:
		t.say("noise is large: relations of %s come first, as what people may want to predict; if that "+
			"is another column, name it (--target NAME)", strings.Trim(fmt.Sprintf("%q", guessed), "[]"))
	}
}
