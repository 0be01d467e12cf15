package configs

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// evaluation asks for metrics that compare the synthetic table with real rows. They are computed
// without any protection.
type evaluation struct {
	// real rows that were not fitted; without them whether rows are copied is not known
	Holdout string `yaml:"holdout" json:"holdout,omitempty"`
	// as flags of decoy evaluate: a column to predict, the value of it that counts as positive, and
	// columns not to predict from
	Target   string   `yaml:"target" json:"target,omitempty"`
	Positive string   `yaml:"positive" json:"positive,omitempty"`
	Drop     []string `yaml:"drop" json:"drop,omitempty"`
}

// flags are those of decoy evaluate, without columns that a bought schema leaves out. lost is the
// outcome if it is one of these.
func (e *evaluation) flags(s *schema.Schema) (flags []string, lost string) {
	given := [][2]string{{"holdout", e.Holdout}}
	if e.Target != "" && s.Index(e.Target) < 0 {
		lost = e.Target
	} else {
		given = append(given, [2]string{"target", e.Target}, [2]string{"positive", e.Positive})
	}
	for _, name := range e.Drop {
		if s.Index(name) >= 0 {
			given = append(given, [2]string{"drop", `"` + strings.ReplaceAll(name, `"`, `""`) + `"`})
		}
	}
	for _, f := range given {
		if f[1] != "" {
			flags = append(flags, "--"+f[0]+"="+f[1])
		}
	}
	return flags, lost
}

// checkEvaluation refuses an evaluation that cannot be, by what is public.
func (t *Task) checkEvaluation() error {
	if t.Evaluate == nil {
		return nil
	}
	if file := t.Evaluate.Holdout; file != "" {
		_, err := FormatOf(t.name("holdout"), file)
		if err = cmp.Or(err, Readable(file)); err != nil {
			return err
		}
		if SameFile(file, t.Input) {
			return Usagef("%s and %s are the same file: a holdout is rows that were not fitted",
				t.name("holdout"), t.name("input"))
		}
	}
	var names []string
	switch {
	case t.Domain != nil:
		names = t.Domain.Names()
	case t.Purchase != nil:
		names = t.Purchase.Table.Names()
	default:
		return nil // the table is missing
	}
	for _, name := range append([]string{t.Evaluate.Target}, t.Evaluate.Drop...) {
		if name != "" && !slices.Contains(names, name) {
			return Usagef("evaluate: there is no column %q%s", name, spelling.Hint(name, names))
		}
	}
	return nil
}

// evaluate compares the output with real rows in a process of its own, which has its own memory and
// permissions.
func (j *job) evaluate(ctx context.Context) error {
	s := cmp.Or(j.Domain, j.made.Model.Schema()) // as the job read the table
	self, err := os.Executable()
	if err != nil {
		return err
	}
	schemaFile := j.path(j.Identity, ".schema.yaml")
	text, err := s.ForPrivate().YAML()
	if err == nil {
		err = disk.WriteFile(schemaFile, text, ReleaseMode)
	}
	if err != nil {
		return err
	}
	given, lost := j.Evaluate.flags(s)
	said := fmt.Sprintf("the outcome %q is left out: nothing here can predict it", lost)
	if lost != "" && !slices.Contains(j.record.Warnings, said) {
		j.record.Warnings = append(j.record.Warnings, said)
	}
	args := append([]string{"evaluate", "--quiet", "--train", j.Input,
		"--synthetic", j.Out, "--schema", schemaFile, "--json", j.Metrics(j.Identity), "--force"},
		given...)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "decoy"
	// What the environment sets for the batch is not for its parts.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DECOY_")
	})
	if text, err = cmd.CombinedOutput(); ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("decoy evaluate: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return nil
}
