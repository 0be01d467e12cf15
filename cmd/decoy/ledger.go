package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"aead.dev/minisign"
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

type ledgerLimit struct {
	jobFlags
	rule, unit string
	runs       int
	sign, next string // files of keys
}

// oneRow is the --unit of a ledger that counts rows.
const oneRow = "row"

func ledgerLimitCommand(t *terminal) *cobra.Command {
	l := &ledgerLimit{jobFlags: newJob(), rule: string(ledger.RuleBasic), runs: ledger.DefaultRuns}
	l.Delta = 0
	return t.verb("ledger limit", l.run, l.flags(), flags{"rule": &l.rule, "runs": &l.runs,
		"unit": &l.unit, "sign": &l.sign, "next": &l.next})
}

func (l *ledgerLimit) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := l.checkBudget(); err != nil {
		return err
	}
	rule := ledger.Rule(l.rule)
	if rule == ledger.RuleZCDP && l.Delta == 0 {
		return usagef("--rule zcdp needs --delta above 0")
	}
	if cmd.Flags().Changed("next") && !cmd.Flags().Changed("sign") {
		return usagef("--next names the key after that of --sign, which is missing")
	}
	if err := configs.Limitable(args[0]); err != nil {
		return err
	}
	path, err := configs.LedgerAt(args[0])
	if err != nil {
		return err
	}
	nb, unit, err := l.units(cmd, path)
	if err != nil {
		return err
	}
	wanted := ledger.Limit{Budget: l.Budget(), Rule: rule, MostRuns: l.runs}
	file := ledger.NewFile(path)
	if old, err := file.Read(); err == nil && rule == ledger.RuleZCDP {
		if runs := configs.WithoutRho(old); len(runs) > 0 {
			return usagef("--rule zcdp: %s has no figure in zCDP, and every later run would be refused: "+
				"leave out --rule", strings.Join(runs, ", "))
		}
	}
	switch err := l.set(cmd, t, file, nb.Units(unit), wanted); {
	case errors.Is(err, ledger.ErrUnsigned) && !errors.Is(err, ledger.ErrInvalid):
		return fmt.Errorf("%s: %w (--sign)", path, err)
	case err != nil:
		return err
	}
	now, err := file.Read()
	if err != nil {
		return err
	}
	t.say("%s counts %v neighbours of one %s: a run on another unit is refused", path,
		nb.Adjacency, unitOf(unit))
	t.say("ledger: %s, spent %s", path, configs.SpentText(now))
	if spent := now.Spent(); rule == ledger.RuleBasic &&
		(spent.Epsilon >= l.Epsilon || spent.Delta > l.Delta) {
		t.say("this limit is spent already: every further run is refused")
	}
	return nil
}

// set sets the limit, signed if --sign has a key.
func (l *ledgerLimit) set(
	cmd *cobra.Command, t *terminal, file *ledger.File, units ledger.Units, wanted ledger.Limit,
) error {
	if !cmd.Flags().Changed("sign") {
		return ledger.SetLimit(cmd.Context(), file, units, wanted)
	}
	key, err := t.secretKey(l.sign)
	if err != nil {
		return err
	}
	next := key.Public().(minisign.PublicKey)
	if cmd.Flags().Changed("next") {
		if next, err = publicKey("--next", l.next); err != nil {
			return err
		}
	}
	return ledger.SetSignedLimit(cmd.Context(), file, units, wanted, key, next)
}

// units is what the ledger counts: what it says itself, unless the flags say otherwise (which a
// ledger that is there then refuses).
func (l *ledgerLimit) units(cmd *cobra.Command, path string) (privacy.Neighbours, string, error) {
	nb, unit := privacy.Neighbours{Adjacency: l.Relation(), MaxRowsPerUnit: 1}, ""
	old, _, err := openLedger(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nb, "", err
	}
	if err == nil && len(old.Entries) > 0 {
		first := old.Entries[0]
		unit, nb.MaxRowsPerUnit = first.Unit, max(1, first.MaxRowsPerUnit)
		if !cmd.Flags().Changed("adjacency") {
			nb.Adjacency = first.Adjacency
		}
	}
	switch {
	case l.Schema != "" && l.unit != "":
		return nb, "", usagef("--schema and --unit: the schema names the unit; give one of them")
	case l.unit == oneRow:
		unit, nb.MaxRowsPerUnit = "", 1
	case l.unit != "":
		unit = l.unit
	case l.Schema != "":
		s, err := configs.LoadSchema(l.Schema)
		if err != nil {
			return nb, "", err
		}
		nb, unit = privacy.NeighboursOf(s, nb.Adjacency), s.Unit
	case err != nil || len(old.Entries) == 0:
		return nb, "", usagef("--schema or --unit is required: a new ledger must know what it counts, "+
			"for good. --schema FILE says it; without a schema, --unit NAME is the id column if a person "+
			"may have several rows, and --unit %s says that each row is another person", oneRow)
	}
	return nb, unit, nil
}

// openLedger reads and checks the chain of a ledger file, which must be there. torn tells of a last
// line that an append cut short left behind; it is not part of the ledger.
func openLedger(path string) (l *ledger.Ledger, torn bool, err error) {
	if err := configs.Readable(path); err != nil {
		return nil, false, err
	}
	l, err = readFile(path, ledger.Parse)
	switch _, format := table.FormatOf(path); {
	case errors.Is(err, ledger.ErrTorn):
		return l, true, nil
	case errors.Is(err, ledger.ErrInvalid) && format == nil:
		return nil, false, fmt.Errorf("%w; %s has the name of a table, whose ledger is %[2]s.ledger", err,
			path)
	}
	return l, false, err
}

// calls is the number of mechanism calls of a composition.
func calls(c accountant.Composition) int {
	n := 0
	for _, charge := range c {
		n += charge.Count
	}
	return n
}

func ledgerShowCommand(t *terminal) *cobra.Command {
	return t.verb("ledger show", func(_ *cobra.Command, t *terminal, args []string) error {
		return t.showLedger(args[0])
	})
}

// shownLedger is what a ledger holds.
type shownLedger struct {
	Kind       string               `json:"kind"` // "ledger"
	Adjacency  accountant.Adjacency `json:"adjacency,omitzero"`
	Unit       string               `json:"unit,omitempty"`
	Runs       []ledger.Summary     `json:"runs"`
	Spent      accountant.Budget    `json:"spent"`
	Limit      *shownLimit          `json:"limit,omitempty"`
	Unfinished []string             `json:"unfinished,omitempty"`
	Torn       bool                 `json:"torn,omitempty"`
	Path       string               `json:"-"`
	Counts     string               `json:"-"` // its privacy unit; "" before the first entry
}

type shownLimit struct {
	accountant.Budget
	Rule ledger.Rule `json:"rule"`
	Runs int         `json:"runs,omitempty"` // at most; 0: any number
	Key  string      `json:"key,omitempty"`  // minisign's, whose signature the next limit needs
	Text string      `json:"-"`
}

func (t *terminal) showLedger(path string) error {
	l, torn, err := openLedger(path)
	if err != nil {
		return err
	}
	out := shownLedger{Kind: "ledger", Runs: append([]ledger.Summary{}, l.Runs()...), Spent: l.Spent(),
		Unfinished: configs.Unfinished(l, path), Torn: torn, Path: path}
	if len(l.Entries) > 0 {
		out.Adjacency, out.Unit = l.Entries[0].Adjacency, l.Entries[0].Unit
		out.Counts = fmt.Sprintf("%v neighbours of one %s", out.Adjacency, unitOf(out.Unit))
	}
	if limit, ok := l.LimitInForce(); ok {
		out.Limit = &shownLimit{*limit.Budget, limit.Rule, limit.MostRuns, limit.Key,
			configs.LimitText(limit)}
	}
	return t.print(out)
}
