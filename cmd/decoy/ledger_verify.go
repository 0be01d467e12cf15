package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"aead.dev/minisign"
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/ledger/excerpt"
	"github.com/decoy-dp/decoy/ledger/signature"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/release/signed"
)

func ledgerVerifyCommand(t *terminal) *cobra.Command {
	var keyFile string
	cmd := t.verb("ledger verify", func(_ *cobra.Command, t *terminal, args []string) error {
		return t.verifyLedger(args[0], args[1:], keyFile)
	}, flags{"key": &keyFile})
	cmd.Args = cobra.MinimumNArgs(1)
	return cmd
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
		Released: released, total: job.SpentText(l)}
	var key minisign.PublicKey
	if keyFile != "" {
		if key, err = publicKey("--key", keyFile); err != nil {
			return err
		}
		limit, _ := l.LimitInForce()
		if err := signature.Check(limit, key.String()); err != nil {
			return fail(err)
		}
		out.Signed = limit.Seq + 1
	}
	for _, file := range released {
		unbound, err := heldBy(l, file, key, keyFile != "")
		if err != nil {
			return fail(fmt.Errorf("%s is a release of it, and %w", file, err))
		}
		if unbound {
			out.Unbound = append(out.Unbound, file)
		}
	}
	return t.print(out)
}

// heldBy returns an error unless a ledger has the run of a file that was released, which is what
// that run delivered and, of a signed release, everything that it had when that was signed. A file
// without an account of its own, such as a schema, is one whose hash a run has. Of a file that is
// bound to no run (errUnbound) it says so.
func heldBy(
	l *ledger.Ledger, path string, key minisign.PublicKey, keyed bool,
) (unbound bool, err error) {
	data, err := job.ReadBounded(path, signed.MaxBytes)
	if err != nil {
		return false, err
	}
	switch {
	case signed.Is(data) && !keyed:
		return false, usagef("is signed: --key names the signer's public key")
	case signed.Is(data):
		members, err := signed.Open(data, key)
		if err != nil {
			return false, err
		}
		for _, m := range members {
			if m.Name == releasedModel {
				data = m.Body
			}
			var said claimed
			if m.Name == releasedClaim && json.Unmarshal(m.Body, &said) == nil && said.Ledger != nil {
				if h := said.Ledger; h.Entries < 1 || h.Entries > len(l.Entries) ||
					l.Entries[h.Entries-1].Hash != h.Hash {
					return false, fmt.Errorf("the ledger is not that of %d entries and %d runs which was signed "+
						"with it, nor one that goes on from there: %w", h.Entries, h.Runs, ledger.ErrInvalid)
				}
			}
		}
	}
	if m, err := release.Read(bytes.NewReader(data), int64(len(data))); err == nil {
		if len(m.Ledger) == 0 {
			return false, usagef("has no run of its own")
		}
		v, err := m.Verify(pld.Epsilon)
		return v.Unbound, cmp.Or(m.Ledger.In(l), err)
	}
	if v, es, err := verifyBought(data); !errors.Is(err, release.ErrFormat) {
		return v.Unbound, cmp.Or(es.In(l), err)
	}
	outputs := excerpt.OutputsOf(data)
	for _, e := range l.Entries {
		if e.Outputs == outputs {
			return false, nil
		}
	}
	return false, fmt.Errorf("no run in it has delivered that: %w", ledger.ErrInvalid)
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
	Unbound  []string `json:"unbound,omitempty"`  // those of them that are bound to no run
	total    string   // what is spent, and the limit
}

func (v verifiedLedger) text(w io.Writer) {
	fmt.Fprintf(w, "ok: %s, %s, spent %s\n", plural(v.Entries, "entry", "entries"),
		plural(v.Runs, "run", "runs"), v.total)
	for _, file := range v.Released {
		fmt.Fprintf(w, "it has the run of %s\n", spelling.Visible(file))
	}
	for _, file := range v.Unbound {
		fmt.Fprintf(w, "not bound: %s: %v\n", spelling.Visible(file), errUnbound)
	}
	if after := v.Entries - v.Signed; v.Signed > 0 && after > 0 {
		fmt.Fprintf(w, "the key holds the first %s; of the other %d, what is missing can be told by "+
			"files that were released (decoy ledger verify FILE RELEASED...)\n",
			plural(v.Signed, "entry", "entries"), after)
	}
	if v.Torn {
		fmt.Fprintln(w, tornText)
	}
}
