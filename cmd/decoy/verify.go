package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"aead.dev/minisign"
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/stats"
)

func verifyCommand(t *terminal) *cobra.Command {
	var key string
	s := newJob()
	return t.verb("verify", func(cmd *cobra.Command, t *terminal, args []string) error {
		var v any
		var err error
		if cmd.Flags().Changed("key") {
			v, err = t.verifyRelease(cmd.Context(), args[0], key)
		} else {
			v, err = verify(args[0])
		}
		if one, ok := v.(verified); ok && err == nil && len(args) > 1 {
			one.Tables, err = t.drew(cmd.Context(), s.Job, args[0], args[1:])
			v = one
		}
		if err != nil {
			return err
		}
		return t.print(v)
	}, s.flags(), flags{"key": &key})
}

// drew compares files, or those of a folder, with the tables that a model gives, and returns their
// names; errDiffers if they are not the same.
func (t *terminal) drew(
	ctx context.Context, j configs.Job, path string, tables []string,
) ([]string, error) {
	m, err := openModel(path)
	if err != nil {
		return nil, err
	}
	if len(m.Tables().Names()) > 1 {
		tables = strings.Split(strings.Join(tables, ","), ",") // a folder, or files
	}
	if tables, err = configs.LinkedFiles("TABLE", m.Tables(), tables...); err != nil {
		return nil, err
	}
	files := make([]io.Reader, len(tables))
	for i, table := range tables {
		if err := configs.Readable(table); err != nil {
			return nil, err
		}
		f, err := os.Open(table)
		if err != nil {
			return nil, configs.Bare(table, err)
		}
		defer f.Close()
		files[i] = f
	}
	how := drawn{Rows: configs.DrawnRows(j.Rows, m.Rows, m.Claim.Epsilon, func(string, ...any) {}),
		Seed: cmp.Or(j.Seed, configs.SeedOf(m)), SpreadsheetSafe: j.SpreadsheetSafe}
	err = how.compare(ctx, m, tables, files, t.progress().of("drawing again"))
	if errors.Is(err, errDiffers) {
		err = fmt.Errorf("%s: %w from what %s gives with seed %d: it was changed, or drawn in another "+
			"way (--rows, --seed, --spreadsheet-safe), or has nothing to do with it",
			strings.Join(tables, ", "), errDiffers, path, how.Seed)
	}
	return tables, err
}

// verified is what was recomputed of a claim that holds.
type verified struct {
	Party      string        `json:"party,omitempty"` // of a joint model
	Claim      release.Claim `json:"claim"`
	Reserved   *cost         `json:"reserved,omitempty"`
	Charged    *cost         `json:"charged,omitempty"` // of a model, if it has calls
	Calls      int           `json:"calls"`
	Derived    *interval     `json:"derived,omitempty"` // of a model
	Checked    []string      `json:"checked,omitempty"`
	NotChecked string        `json:"not_checked,omitempty"`
	Tables     []string      `json:"tables,omitempty"`  // that the model gives, byte for byte
	Parties    []verified    `json:"parties,omitempty"` // of a joint model, in place of all but the claim
}

// interval is where ε lies, by closed forms apart from the accountant.
type interval struct {
	Lower float64  `json:"epsilon_at_least"`
	Upper *float64 `json:"epsilon_at_most,omitempty"`
}

// notChecked is what no file can prove.
const notChecked = "that the program which wrote the file, whatever it calls itself, ran the " +
	"mechanisms it logged"

// verify recomputes the claim of a file that a run has delivered.
func verify(path string) (any, error) {
	m, err := readModel(path)
	if err == nil {
		return verifyFile(path, m)
	}
	if errors.Is(err, release.ErrFormat) {
		text, failed := configs.ReadBounded(path, release.MaxSigned)
		f, _ := stats.Read(bytes.NewReader(text)) // nil of any other file
		switch {
		case failed == nil && f != nil:
			return verifyFile(path, f)
		case release.IsSigned(text):
			return nil, usagef("%s is a signed release: --key names the signer's public key", path)
		}
	}
	return nil, err
}

// verifyFile recomputes the claim of a file, which errors call path.
func verifyFile(path string, f release.File) (any, error) {
	v, err := release.Verify(f, pld.Epsilon)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := verified{Claim: v.Claim}
	switch m, _ := f.(*release.Model); {
	case m == nil || len(m.Parties) == 0 && !m.Claim.Local:
		return verifiedRun(v, f.Account()), nil
	case m.Claim.Local:
		out.Checked = []string{"schema and parameters as the manifest states them; there is no ledger, " +
			"as each respondent keeps their own"}
		out.NotChecked = "that every answer was randomised: each respondent knows it of their own"
	default:
		for i, p := range m.Parties {
			one := verifiedRun(v.Parties[i], p.Ledger)
			one.Party = p.Name
			out.Parties = append(out.Parties, one)
		}
	}
	return out, nil
}

// verifiedRun is what was recomputed of the ledger inside a file.
func verifiedRun(v release.Verification, l ledger.Excerpt) verified {
	marginals := "noisy marginals that are kept, and their noise, by the charges that paid for them"
	if l[1].Method == release.MethodParty {
		marginals = "the noise of marginals that are kept, by the sums, whose answers no charge has"
	}
	out := verified{Claim: v.Claim, Reserved: new(costOf(v.Reserved)), Calls: v.Charges,
		Derived: &interval{Lower: v.Derived.Lower}, NotChecked: notChecked,
		Checked: []string{fmt.Sprintf("the hash chain of %d ledger entries; one run, closed as %s; "+
			"every charge in the reservation;", len(l), l[len(l)-1].Status),
			"unit, method, schema and parameters as the ledger and the manifest state them",
			"all contents, by their hash in the run's closing line; " + marginals}}
	if v.Charges > 0 {
		out.Charged = new(costOf(v.Charged))
	}
	if !math.IsInf(v.Derived.Upper, 1) {
		out.Derived.Upper = &v.Derived.Upper
	}
	return out
}

func ledgerVerifyCommand(t *terminal) *cobra.Command {
	var keyFile string
	return t.verb("ledger verify", func(_ *cobra.Command, t *terminal, args []string) error {
		return t.verifyLedger(args[0], args[1:], keyFile)
	}, flags{"key": &keyFile})
}

// verifyLedger checks a ledger, and that it has all that was released of its table.
func (t *terminal) verifyLedger(path string, released []string, keyFile string) error {
	fail := func(err error) error { return fmt.Errorf("%s: %w", path, err) }
	l, torn, err := openLedger(path)
	if err != nil {
		return err
	}
	if err := l.Verify(pld.Epsilon); err != nil {
		return fail(err)
	}
	out := verifiedLedger{Entries: len(l.Entries), Runs: len(l.Runs()), Spent: l.Spent(), Torn: torn,
		Released: released, Total: configs.SpentText(l)}
	var key *minisign.PublicKey
	if keyFile != "" {
		public, err := publicKey("--key", keyFile)
		if err != nil {
			return err
		}
		limit, _ := l.LimitInForce()
		if err := ledger.CheckKey(limit, public.String()); err != nil {
			return fail(err)
		}
		key, out.Signed = &public, limit.Seq+1
		out.After = out.Entries - out.Signed
	}
	for _, file := range released {
		if err := heldBy(l, file, key); err != nil {
			return fail(fmt.Errorf("%s is a release of it, and %w", file, err))
		}
	}
	return t.print(out)
}

// heldBy returns an error unless a ledger has the run of a file that was released, which is what
// that run delivered and, of a signed release, everything that it had when that was signed. A file
// without an account of its own, such as a schema, is one whose hash a run has.
func heldBy(l *ledger.Ledger, path string, key *minisign.PublicKey) error {
	data, err := configs.ReadBounded(path, release.MaxSigned)
	if err != nil {
		return err
	}
	if release.IsSigned(data) {
		if key == nil {
			return usagef("is signed: --key names the signer's public key")
		}
		bodies, _, err := openRelease(data, *key)
		if err != nil {
			return err
		}
		var said claimed
		if json.Unmarshal(bodies[releasedClaim], &said) == nil && said.Ledger != nil {
			if h := said.Ledger; h.Entries < 1 || h.Entries > len(l.Entries) ||
				l.Entries[h.Entries-1].Hash != h.Hash {
				return fmt.Errorf("the ledger is not that of %d entries and %d runs which was signed "+
					"with it, nor one that goes on from there: %w", h.Entries, h.Runs, ledger.ErrInvalid)
			}
		}
		if model, ok := bodies[releasedModel]; ok {
			data = model
		}
	}
	f, _ := stats.Read(bytes.NewReader(data))
	if m, err := release.Read(bytes.NewReader(data), int64(len(data))); err == nil {
		f = m
	}
	switch {
	case f != nil && len(f.Account()) == 0:
		return usagef("has no run of its own")
	case f != nil:
		_, err := release.Verify(f, pld.Epsilon)
		return cmp.Or(f.Account().In(l), err)
	}
	outputs := ledger.HashFile(data)
	if slices.ContainsFunc(l.Entries, func(e ledger.Entry) bool { return e.Outputs == outputs }) {
		return nil
	}
	return fmt.Errorf("no run in it has delivered that: %w", ledger.ErrInvalid)
}

// verifiedLedger is what was checked of a ledger that holds.
type verifiedLedger struct {
	Entries int               `json:"entries"`
	Runs    int               `json:"runs"`
	Spent   accountant.Budget `json:"spent"`
	Torn    bool              `json:"torn,omitempty"`
	// so many entries are held by the signature of the limit in force
	Signed   int      `json:"signed_entries,omitempty"`
	Released []string `json:"released,omitempty"` // it has the runs of these files
	Total    string   `json:"-"`                  // what is spent, and the limit
	After    int      `json:"-"`                  // entries that no signature holds
}
