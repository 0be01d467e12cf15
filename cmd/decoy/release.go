package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aead.dev/minisign"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/release"
)

// The members of a signed release.
const (
	releasedTable   = "synthetic.csv"
	releasedModel   = "model.decoy"
	releasedClaim   = "claim.json"
	releasedText    = "inspect.txt"
	releasedInspect = "inspect.json"
	releasedPage    = "about.html"
)

// releasedTexts follow from the model.
var releasedTexts = []string{releasedText, releasedInspect, releasedPage}

func releaseCommand(t *terminal) *cobra.Command {
	s := newJob()
	var keyFile string
	return t.verb("release", func(cmd *cobra.Command, t *terminal, args []string) error {
		return t.release(cmd.Context(), s, args[0], keyFile)
	}, s.flags(), flags{"sign": &keyFile})
}

// drawn is how the table of a release was drawn from the model.
type drawn struct {
	Rows            int    `json:"rows"`
	Seed            uint64 `json:"seed"`
	SpreadsheetSafe bool   `json:"spreadsheet_safe,omitempty"`
	Tool            string `json:"tool"` // the version that drew it
}

// claimed is the claim of a release, as its signer states it.
type claimed struct {
	Table  drawn           `json:"table"`
	Ledger *ledgerHead     `json:"ledger,omitempty"` // of the table; nil: the model has no run
	Model  json.RawMessage `json:"model"`            // what verify says of it
}

// ledgerHead is how far a ledger had come: the hash of an entry is one of all entries before it
// too.
type ledgerHead struct {
	Entries int    `json:"entries"`
	Runs    int    `json:"runs"`
	Hash    string `json:"hash"` // of the last one
}

// headFor is the head of the ledger of a model's table, which must hold and have the model's run.
// limit is the limit in force, if there is one.
func headFor(
	m *release.Model, path, ledgerFile string,
) (head *ledgerHead, limit *ledger.Entry, err error) {
	switch {
	case len(m.Ledger) == 0 && ledgerFile == "":
		return nil, nil, nil
	case len(m.Ledger) == 0:
		return nil, nil, usagef("--ledger: %s has no run of its own", path)
	case ledgerFile == "":
		return nil, nil, usagef("--ledger is required: the ledger of the table that %s was made "+
			"of, which must have its run", path)
	}
	l, _, err := openLedger(ledgerFile)
	if err == nil {
		err = l.Verify(pld.Epsilon)
	}
	if err == nil {
		err = m.Ledger.In(l)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", ledgerFile, err)
	}
	if in, ok := l.LimitInForce(); ok {
		limit = &in
	}
	return &ledgerHead{len(l.Entries), len(l.Runs()), l.Entries[len(l.Entries)-1].Hash}, limit, nil
}

// release writes an archive.
func (t *terminal) release(ctx context.Context, s jobFlags, path, keyFile string) error {
	m, err := openModel(path)
	if err != nil {
		return err
	}
	v, err := verifyFile(path, m)
	if err != nil {
		return err
	}
	head, limit, err := headFor(m, path, s.Ledger)
	if err != nil {
		return err
	}
	out, err := t.create("--out", s.Out, configs.ReleaseMode)
	if err != nil {
		return err
	}
	defer out.Abort()
	key, err := t.secretKey(keyFile)
	if err != nil {
		return err
	}
	if limit != nil && ledger.CheckKey(*limit, key.Public().(minisign.PublicKey).String()) != nil {
		t.say("the limit in %s is not signed by this key, so that decoy ledger verify --key refuses it; "+
			"if it should be, sign one: decoy ledger limit --sign", s.Ledger)
	}
	t.sayGuarantee(m)
	rows := configs.DrawnRows(s.Rows, m.Rows, m.Claim.Epsilon, t.say)
	how := claimed{Ledger: head, Table: drawn{rows, s.Seed, s.SpreadsheetSafe, thisVersion().Version}}
	var table bytes.Buffer
	if err := how.Table.draw(ctx, &table, m, t.progress().of("writing rows")); err != nil {
		return err
	}
	members, err := membersOf(m, v, how)
	if err != nil {
		return err
	}
	members = append([]release.Member{{Name: releasedTable, Body: table.Bytes()}}, members...)
	note := fmt.Sprintf(": %d rows, %d columns (seed %d), signed by key %016X", how.Table.Rows,
		m.Schema().Width(), how.Table.Seed, key.ID())
	return t.deliver(out, note, func(w io.Writer) error {
		return release.WriteSigned(w, members, key)
	})
}

// draw writes the table.
func (d drawn) draw(ctx context.Context, w io.Writer, m *release.Model, at func(float64)) error {
	out, err := configs.CreateOutput("--out", configs.Standard, w, false)
	if err != nil {
		return err
	}
	out.Safe = d.SpreadsheetSafe
	return out.Sample(ctx, m, m.Schema(), d.Rows, d.Seed, at)
}

// membersOf are the members of a release but for its table.
func membersOf(m *release.Model, v any, how claimed) ([]release.Member, error) {
	shown := shownModel{"model", m.Manifest, releasedModel, m}
	var members []release.Member
	for _, part := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{releasedModel, m.Write},
		{releasedClaim, func(w io.Writer) error {
			var said bytes.Buffer
			err := encode(&said, v)
			how.Model = said.Bytes()
			return cmp.Or(err, encode(w, how))
		}},
		{releasedText, func(w io.Writer) error { return writeAligned(w, shown) }},
		{releasedInspect, func(w io.Writer) error { return encode(w, shown) }},
		{releasedPage, func(w io.Writer) error { return report.Model(w, released(m)) }},
	} {
		var body bytes.Buffer
		if err := part.write(&body); err != nil {
			return nil, err
		}
		members = append(members, release.Member{Name: part.name, Body: body.Bytes()})
	}
	return members, nil
}

// secretKey reads a key of minisign, and its password if it has one.
func (t *terminal) secretKey(path string) (key minisign.PrivateKey, err error) {
	text, err := keyText("--sign", path)
	if err != nil {
		return key, err
	}
	if !minisign.IsEncrypted(text) {
		if key.UnmarshalText(text) != nil {
			return key, fmt.Errorf("--sign %s: not a secret key of minisign", path)
		}
		return key, nil
	}
	password, err := t.password(path)
	if err != nil {
		return key, err
	}
	if key, err = minisign.DecryptKey(password, text); err != nil {
		return key, fmt.Errorf("--sign %s: wrong password, or a damaged key", path)
	}
	return key, nil
}

// password asks for the password of a key. It is nowhere on a command line, nor in a variable.
func (t *terminal) password(path string) (string, error) {
	if stdin := int(os.Stdin.Fd()); term.IsTerminal(stdin) {
		fmt.Fprintf(t.stderr, "password of %q: ", path)
		text, err := term.ReadPassword(stdin)
		fmt.Fprintln(t.stderr)
		return string(text), err
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 1<<12)).ReadBytes('\n')
	if len(line) == 0 {
		return "", fmt.Errorf("--sign %s: the key has a password, and standard input has none: %w",
			path, err)
	}
	return string(bytes.TrimRight(line, "\r\n")), nil
}

// publicKey reads a public key of minisign.
func publicKey(flag, path string) (key minisign.PublicKey, err error) {
	text, err := keyText(flag, path)
	if err == nil && key.UnmarshalText(text) != nil {
		err = fmt.Errorf("%s %s: not a public key of minisign", flag, path)
	}
	return key, err
}

// keyText is the text of a key file.
func keyText(flag, path string) ([]byte, error) {
	text, err := configs.ReadBounded(path, 1<<12)
	if err != nil {
		return nil, fmt.Errorf("%s %w", flag, err)
	}
	return bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r"), nil), "\n"), nil
}

// verifiedRelease is a signed release that holds.
type verifiedRelease struct {
	Key     string   `json:"signed_by"` // in hexadecimal, as minisign prints it
	Members []string `json:"members"`
	Table   drawn    `json:"table"`
	// the ledger of the table as it was signed; nil: of an earlier version, or of no run
	Ledger     *ledgerHead `json:"ledger,omitempty"`
	Reproduced bool        `json:"table_reproduced"` // else it is only signed
	Described  bool        `json:"texts_reproduced"` // the same of those about the model
	Model      any         `json:"model"`
}

// openRelease is the members of a signed release by their names, and these in order.
func openRelease(data []byte, key minisign.PublicKey) (map[string][]byte, []string, error) {
	members, err := release.OpenSigned(data, key)
	bodies := map[string][]byte{}
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
		bodies[m.Name] = m.Body
	}
	return bodies, names, err
}

// verifyRelease checks the signature, then the model's own claim, then the table.
func (t *terminal) verifyRelease(
	ctx context.Context, path, keyFile string,
) (any, *release.Model, error) {
	key, err := publicKey("--key", keyFile)
	if err != nil {
		return nil, nil, err
	}
	data, err := configs.ReadBounded(path, release.MaxSigned)
	if err != nil {
		return nil, nil, err
	}
	out := verifiedRelease{Key: fmt.Sprintf("%016X", key.ID())}
	bodies, names, err := openRelease(data, key)
	if out.Members = names; err != nil {
		if _, no := release.Open(path); no == nil && !bytes.Contains(data, []byte("SHA256SUMS")) {
			return nil, nil, fmt.Errorf("%s is a model, and models are not signed: verify it without "+
				"--key, or give the release that decoy release made", path)
		}
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	want := append([]string{releasedTable, releasedModel, releasedClaim}, releasedTexts...)
	if !slices.Equal(names, want) && !slices.Equal(names, want[:len(want)-1]) { // without the page
		return nil, nil, fmt.Errorf("%s: signed, and not a release: it holds %s, not %s", path,
			strings.Join(names, ", "), strings.Join(want, ", "))
	}
	inside := path + ": " + releasedModel
	model := bodies[releasedModel]
	m, err := release.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inside, err)
	}
	var unbound error
	if out.Model, unbound = verifyFile(inside, m); unbound != nil && !errors.Is(unbound, errUnbound) {
		return nil, nil, unbound
	}
	if err := out.check(ctx, bodies, m, t.progress().of("drawing again")); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, m, unbound
}

// check holds what the signer states against the model: the guarantee must be the model's, and the
// table and the texts what it gives. Of those that another version made it says only whether they
// are.
func (v *verifiedRelease) check(
	ctx context.Context, bodies map[string][]byte, m *release.Model, at func(float64),
) error {
	var said claimed
	var stated struct {
		Claim release.Claim `json:"claim"`
	}
	if json.Unmarshal(bodies[releasedClaim], &said) != nil || said.Table.Rows < 1 ||
		json.Unmarshal(said.Model, &stated) != nil {
		return fmt.Errorf("%s: not the claim of a release", releasedClaim)
	}
	if stated.Claim != m.Claim {
		return fmt.Errorf("%s: it states %v, and the model %v", releasedClaim, stated.Claim, m.Claim)
	}
	v.Table, v.Ledger = said.Table, said.Ledger
	same := said.Table.Tool == thisVersion().Version
	rest := expected(bodies[releasedTable])
	err := v.Table.draw(ctx, &rest, m, at)
	v.Reproduced = err == nil && len(rest) == 0
	switch {
	case err != nil && !errors.Is(err, errDiffers):
		return fmt.Errorf("%s: %w", releasedTable, err)
	case !v.Reproduced && same:
		return fmt.Errorf("%s is signed, and is not what the model gives with seed %d", releasedTable,
			v.Table.Seed)
	}
	again, err := membersOf(m, v.Model, claimed{Table: v.Table, Ledger: v.Ledger})
	if err != nil {
		return err
	}
	v.Described = true
	for _, x := range again {
		if slices.Contains(releasedTexts, x.Name) && !bytes.Equal(x.Body, bodies[x.Name]) {
			if v.Described = false; same {
				return fmt.Errorf("%s is signed, and is not what the model gives", x.Name)
			}
		}
	}
	return nil
}

// expected is what is still to be written; the first byte that differs is an error.
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
