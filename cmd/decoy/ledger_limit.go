package main

import (
	"errors"
	"fmt"
	"io/fs"

	"aead.dev/minisign"
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/ledger/limit"
	"github.com/decoy-dp/decoy/ledger/signature"
	"github.com/decoy-dp/decoy/privacy"
)

type ledgerLimit struct {
	jobFlags
	rule, unit string
	sign, next string // files of keys
	strict     bool
}

// oneRow is the --unit of a ledger that counts rows.
const oneRow = "row"

func ledgerLimitCommand(t *terminal) *cobra.Command {
	l := &ledgerLimit{}
	cmd := manual{
		operands: "FILE  ledger file; a new one is made if it is not there",
		exits:    []int{exitLocked},
		session: `
$ decoy datasets export icu-mortality --out patients.csv --schema-out patients.yaml
$ decoy ledger limit patients.csv.ledger --schema patients.yaml --epsilon 3 --delta 1e-6
$ decoy ledger show patients.csv.ledger
`}.document(&cobra.Command{
		Use:   "limit FILE --epsilon E --delta D [flags]",
		Short: "from here on, refuse runs that would spend more than this in all",
		Long: `Set the limit of a ledger. From here on a run that would take the total above it is refused
before it reads a row (exit status 10). What is spent already counts. A later limit replaces this
one.

Rule basic adds up the epsilons and the deltas of the runs. Rule zcdp adds up their
zero-concentrated costs, which allows more runs for the same limit, and needs delta > 0.

A run that cannot read its rows is closed as void and costs nothing. Its error message tells
something about the rows, which is fine for a person who may see them; for anybody else it would be
a free answer. With --strict, every run that is reserved from now on stays charged even if it is
void; earlier ones do not. A later limit stays strict unless --strict=false is typed, and gives
nothing back. 'decoy ledger show' lists all of them.

With --sign a second person decides: the limit carries the signature of KEY, a secret key of
minisign, and names its public key. From here on the ledger takes no limit without a signature of
that key, and runs refuse a ledger in which a limit, or any line before one, is not as it was
signed. The signature covers the place of the limit too, so that an older one cannot be used again.
Only who has the key can hand it over (--next). Whoever can write the file can still throw it away
and begin another: 'decoy ledger verify FILE --key PUB' tells, and a copy that the key's owner keeps
after each limit must be how the file begins.

A new ledger must know what it counts, for good, since a limit for single rows says less about a
person who has many: with --schema the unit of that schema, with --unit all rows of one patient (or
customer, or household), or with --unit row one row.`,
		Args: operands("FILE"),
	})
	f := cmd.Flags()
	f.Float64Var(&l.Epsilon, "epsilon", 0, "limit `E` of all runs together (required, > 0)")
	f.Float64Var(&l.Delta, "delta", 0, "limit `D` of all runs together (required)")
	f.StringVar(&l.rule, "rule", string(ledger.RuleBasic), "how runs add up, `R`: basic or zcdp")
	f.BoolVar(&l.strict, "strict", false, "also count runs from here on that break off before their "+
		"first mechanism, because the rows do not fit the schema")
	f.SetAnnotation("strict", typedKey, []string{}) // --strict=false gives a protection up
	f.StringVar(&l.Schema, "schema", "", "schema `FILE` whose privacy unit a new ledger counts")
	f.StringVar(&l.unit, "unit", "", "id column `NAME` of the privacy unit that a new ledger counts, "+
		"where there is no schema yet; row: each row is another person")
	f.StringVar(&l.sign, "sign", "", "minisign's secret key, a file `KEY`; each later limit needs its "+
		"signature")
	f.StringVar(&l.next, "next", "", "minisign's public key, a file `PUB`, whose signature later limits "+
		"need instead, with --sign")
	l.addAdjacency(cmd)
	complete(cmd, "rule", string(ledger.RuleBasic), string(ledger.RuleZCDP))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return l.run(cmd, t, args[0]) }
	return cmd
}

func (l *ledgerLimit) run(cmd *cobra.Command, t *terminal, path string) error {
	if err := need(cmd, "epsilon", "delta"); err != nil {
		return err
	}
	if err := l.checkBudget(cmd); err != nil {
		return err
	}
	rule := ledger.Rule(l.rule)
	if rule != ledger.RuleBasic && rule != ledger.RuleZCDP {
		return usagef("--rule %q must be basic or zcdp", l.rule)
	}
	if rule == ledger.RuleZCDP && l.Delta == 0 {
		return usagef("--rule zcdp needs --delta above 0")
	}
	if cmd.Flags().Changed("next") && !cmd.Flags().Changed("sign") {
		return usagef("--next names the key after that of --sign, which is missing")
	}
	if err := job.Limitable(path); err != nil {
		return err
	}
	path, err := job.LedgerAt(path)
	if err != nil {
		return err
	}
	nb, unit, err := l.units(cmd, path)
	if err != nil {
		return err
	}
	wanted := limit.Limit{Budget: l.Budget(), Rule: rule, Strict: l.strict,
		KeepStrict: !cmd.Flags().Changed("strict")}
	file := job.LedgerFile(path)
	set := func() error { return limit.Set(cmd.Context(), file, nb.Units(unit), wanted) }
	if cmd.Flags().Changed("sign") {
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
		set = func() error {
			return signature.Set(cmd.Context(), file, nb.Units(unit), wanted, key, next)
		}
	}
	switch err := set(); {
	case errors.Is(err, signature.ErrUnsigned) && !errors.Is(err, ledger.ErrInvalid):
		return fmt.Errorf("%s: %w (--sign)", path, err)
	case err != nil:
		return err
	}
	now, err := file.Read()
	if err != nil {
		return err
	}
	t.say("ledger: %s, spent %s", path, job.SpentText(now))
	if spent := now.Spent(); rule == ledger.RuleBasic &&
		(spent.Epsilon >= l.Epsilon || spent.Delta > l.Delta) {
		t.say("this limit is spent already: every further run is refused")
	}
	return nil
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
		s, err := job.LoadSchema(l.Schema)
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
