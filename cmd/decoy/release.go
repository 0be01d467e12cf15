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
	"strings"

	"aead.dev/minisign"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// The members of a signed release.
const (
	releasedTable = "synthetic.csv"
	releasedModel = "model.decoy"
	releasedClaim = "claim.json"
	releasedPage  = "about.html"
)

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
	m, err := openTable(path)
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
	var table, model, stated, claim, about bytes.Buffer
	err = how.Table.draw(ctx, []io.Writer{&table}, []string{releasedTable}, m,
		t.progress().of("writing rows"))
	if err != nil {
		return err
	}
	err = encode(&stated, v)
	how.Model = stated.Bytes()
	err = cmp.Or(err, m.Write(&model), encode(&claim, how), report.Model(&about, released(m)))
	if err != nil {
		return err
	}
	members := []release.Member{{Name: releasedTable, Body: table.Bytes()},
		{Name: releasedModel, Body: model.Bytes()}, {Name: releasedClaim, Body: claim.Bytes()},
		{Name: releasedPage, Body: about.Bytes()}}
	note := fmt.Sprintf(": %d rows, %d columns (seed %d), signed by key %016X", how.Table.Rows,
		m.Schema().Width(), how.Table.Seed, key.ID())
	return t.deliver(out, note, func(w io.Writer) error {
		return release.WriteSigned(w, members, key)
	})
}

// draw writes the tables of a model, in the formats that names have.
func (d drawn) draw(
	ctx context.Context, to []io.Writer, names []string, m *release.Model, at func(float64),
) (err error) {
	out := make([]*configs.Target, len(to))
	for i, w := range to {
		safe := table.WriterOptions{Safe: d.SpreadsheetSafe}
		if out[i], err = configs.TableTo("TABLE", names[i], w, safe); err != nil {
			return err
		}
	}
	return configs.SampleTables(ctx, out, nil, m, d.Rows, d.Seed, func(string, ...any) {}, at)
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
	// the ledger of the table as it was signed; nil: of no run
	Ledger     *ledgerHead `json:"ledger,omitempty"`
	Reproduced bool        `json:"table_reproduced"` // else it is only signed
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

// verifyRelease checks the signature, then the model's own claim, then that the table is what it
// gives. Of a table that another version drew it says only whether it is.
func (t *terminal) verifyRelease(ctx context.Context, path, keyFile string) (any, error) {
	key, err := publicKey("--key", keyFile)
	if err != nil {
		return nil, err
	}
	data, err := configs.ReadBounded(path, release.MaxSigned)
	if err != nil {
		return nil, err
	}
	bodies, names, err := openRelease(data, key)
	if err != nil {
		if _, no := release.Open(path); no == nil && !bytes.Contains(data, []byte("SHA256SUMS")) {
			return nil, fmt.Errorf("%s is a model, and models are not signed: verify it without "+
				"--key, or give the release that decoy release made", path)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range []string{releasedTable, releasedModel, releasedClaim} {
		if bodies[name] == nil {
			return nil, fmt.Errorf("%s: signed, and not a release: it holds %s, and no %s", path,
				strings.Join(names, ", "), name)
		}
	}
	model := bodies[releasedModel]
	m, err := release.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, releasedModel, err)
	}
	verified, err := verifyFile(path+": "+releasedModel, m)
	if err != nil {
		return nil, err
	}
	var said claimed
	var stated struct {
		Claim release.Claim `json:"claim"`
	}
	if json.Unmarshal(bodies[releasedClaim], &said) != nil || said.Table.Rows < 1 ||
		json.Unmarshal(said.Model, &stated) != nil {
		return nil, fmt.Errorf("%s: %s: not the claim of a release", path, releasedClaim)
	}
	if stated.Claim != m.Claim {
		return nil, fmt.Errorf("%s: %s: it states %v, and the model %v", path, releasedClaim,
			stated.Claim, m.Claim)
	}
	same, err := said.Table.drew(ctx, bodies[releasedTable], m, t.progress().of("drawing again"))
	if err != nil {
		return nil, fmt.Errorf("%s: %s %w", path, releasedTable, err)
	}
	return verifiedRelease{fmt.Sprintf("%016X", key.ID()), names, said.Table, said.Ledger, same,
		verified}, nil
}

// drew reports whether a table is what the model gives. Of one that this version drew it must be.
func (d drawn) drew(
	ctx context.Context, table []byte, m *release.Model, at func(float64),
) (bool, error) {
	err := d.compare(ctx, m, []string{releasedTable}, []io.Reader{bytes.NewReader(table)}, at)
	if err != nil && !errors.Is(err, errDiffers) {
		return false, err
	}
	if err != nil && d.Tool == thisVersion().Version {
		return false, fmt.Errorf("is signed, and is not what the model gives with seed %d", d.Seed)
	}
	return err == nil, nil
}

var errDiffers = errors.New("the table differs")

// compare draws the tables of a model again and compares them with files, whose names say their
// formats; errDiffers at the first byte that is another. No file is held in memory.
func (d drawn) compare(
	ctx context.Context, m *release.Model, names []string, files []io.Reader, at func(float64),
) (err error) {
	to := make([]io.Writer, len(files))
	for i, f := range files {
		to[i] = expected{f}
	}
	err = d.draw(ctx, to, names, m, at)
	for _, f := range files {
		if more, _ := io.CopyN(io.Discard, f, 1); err == nil && more > 0 {
			err = errDiffers
		}
	}
	return err
}

// expected is what is still to be written.
type expected struct{ io.Reader }

func (e expected) Write(p []byte) (int, error) {
	have := make([]byte, len(p))
	if _, err := io.ReadFull(e, have); err != nil || !bytes.Equal(have, p) {
		return 0, errDiffers
	}
	return len(p), nil
}
