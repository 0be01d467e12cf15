package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/release/signed"
)

// verifiedRelease is a signed release that holds.
type verifiedRelease struct {
	Key     string   `json:"signed_by"` // in hexadecimal, as minisign prints it
	Members []string `json:"members"`
	Table   drawn    `json:"table"`
	// the ledger of the table as it was signed; nil: of an earlier version, or of no run
	Ledger     *ledgerHead `json:"ledger,omitempty"`
	Reproduced bool        `json:"table_reproduced"` // else it is only signed
	Described  bool        `json:"texts_reproduced"` // the same of those about the model
	Model      result      `json:"model"`
}

// verifyRelease checks the signature, then the model's own claim, then the table.
func (t *terminal) verifyRelease(
	ctx context.Context, path, keyFile string,
) (result, *release.Model, error) {
	key, err := publicKey("--key", keyFile)
	if err != nil {
		return nil, nil, err
	}
	data, err := job.ReadBounded(path, signed.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	members, err := signed.Open(data, key)
	if err != nil {
		if _, no := release.Open(path); no == nil && !bytes.Contains(data, []byte("SHA256SUMS")) {
			return nil, nil, fmt.Errorf("%s is a model, and models are not signed: verify it without "+
				"--key, or give the release that decoy release made", path)
		}
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	out := verifiedRelease{Key: fmt.Sprintf("%016X", key.ID())}
	bodies := map[string][]byte{}
	for _, m := range members {
		out.Members = append(out.Members, m.Name)
		bodies[m.Name] = m.Body
	}
	want := []string{releasedTable, releasedModel, releasedClaim, releasedText, releasedInspect,
		releasedPage}
	old := want[:len(want)-1] // without the page
	if !slices.Equal(out.Members, want) && !slices.Equal(out.Members, old) {
		return nil, nil, fmt.Errorf("%s: signed, and not a release: it holds %s, not %s", path,
			strings.Join(out.Members, ", "), strings.Join(want, ", "))
	}
	inside := path + ": " + releasedModel
	model := bodies[releasedModel]
	m, err := release.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inside, err)
	}
	var unbound error
	if out.Model, err = verifyModel(inside, m); errors.Is(err, errUnbound) {
		unbound = err
	} else if err != nil {
		return nil, nil, err
	}
	if out.Table, out.Ledger, err = checkClaim(bodies[releasedClaim], m.Claim); err != nil {
		return nil, nil, fmt.Errorf("%s: %s: %w", path, releasedClaim, err)
	}
	out.Reproduced, err = out.Table.gives(ctx, bodies[releasedTable], m,
		t.progress().of("drawing again"))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %s: %w", path, releasedTable, err)
	case !out.Reproduced && out.Table.Tool == thisVersion().Version:
		return nil, nil, fmt.Errorf("%s: %s is signed, and is not what the model gives with seed %d",
			path, releasedTable, out.Table.Seed)
	}
	again, err := membersOf(m, out.Model, claimed{Table: out.Table, Ledger: out.Ledger})
	if err != nil {
		return nil, nil, err
	}
	out.Described = true
	for _, x := range again {
		if slices.Contains(releasedTexts, x.Name) && !bytes.Equal(x.Body, bodies[x.Name]) {
			if out.Described = false; out.Table.Tool == thisVersion().Version {
				return nil, nil, fmt.Errorf("%s: %s is signed, and is not what the model gives", path,
					x.Name)
			}
		}
	}
	return out, m, unbound
}

// checkClaim holds what the signer states against the model: the guarantee must be the model's.
func checkClaim(text []byte, of release.Claim) (drawn, *ledgerHead, error) {
	var said struct {
		Table  drawn       `json:"table"`
		Ledger *ledgerHead `json:"ledger"`
		Model  struct {
			Claim release.Claim `json:"claim"`
		} `json:"model"`
	}
	if json.Unmarshal(text, &said) != nil || said.Table.Rows < 1 {
		return drawn{}, nil, errors.New("not the claim of a release")
	}
	if said.Model.Claim != of {
		return drawn{}, nil, fmt.Errorf("it states %v, and the model %v", said.Model.Claim, of)
	}
	return said.Table, said.Ledger, nil
}

// gives reports whether the model gives this table. It stops at the first byte that differs.
func (d drawn) gives(
	ctx context.Context, table []byte, m *release.Model, at func(float64),
) (bool, error) {
	rest := expected(table)
	err := d.draw(ctx, &rest, m, at)
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return err == nil && len(rest) == 0, err
}

// expected is what is still to be written.
type expected []byte

var errDiffers = errors.New("the table differs")

func (e *expected) Write(p []byte) (int, error) {
	rest, ok := bytes.CutPrefix(*e, p)
	if !ok {
		return 0, errDiffers
	}
	*e = rest
	return len(p), nil
}

func (v verifiedRelease) text(w io.Writer) {
	fmt.Fprintf(w, "ok\tsigned by key %s: %s\n", v.Key, strings.Join(v.Members, ", "))
	table := fmt.Sprintf("%s is what the model gives: %d rows, seed %d", releasedTable, v.Table.Rows,
		v.Table.Seed)
	head := "ok"
	if !v.Reproduced {
		head = "not checked"
		table = fmt.Sprintf("%s is signed; that it comes from the model could not be shown: %q drew "+
			"it, and this version draws other rows", releasedTable, v.Table.Tool)
	}
	fmt.Fprintf(w, "%s\t%s\n", head, table)
	head, texts := "ok", strings.Join(releasedTexts, ", ")+" are what the model gives"
	if !v.Described {
		head = "not checked"
		texts = strings.Join(releasedTexts, ", ") + " are signed; this version writes others"
	}
	fmt.Fprintf(w, "%s\t%s\n", head, texts)
	if l := v.Ledger; l != nil {
		fmt.Fprintf(w, "ledger\tof the table, when this was signed: %s, %s, head %s\n",
			plural(l.Entries, "entry", "entries"), plural(l.Runs, "run", "runs"), l.Hash)
	}
	v.Model.text(w)
}
