package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Run is a run from its reservation to its end. open pays for it, ask makes what leaves of the
// answers of its session, deliver, which may be nil, makes that durable; then the run is closed.
// open is privacy.Open, or text.Open for a table without a schema. What an error leaves is in
// [privacy.Session.Finish]. Errors before the reservation have spent nothing; the session is nil
// then. One of ask that wraps [ErrNothing] is an end without anything to deliver.
func Run[Rows any, S interface {
	Finish(error, func() error) error
}, R any](
	ctx context.Context, open func(context.Context, Rows, privacy.Options) (S, error), rows Rows,
	o privacy.Options, ask func(S) (R, error), deliver func(R) error,
) (out R, s S, err error) {
	if s, err = open(ctx, rows, o); err != nil {
		return out, s, err
	}
	made, err := ask(s)
	var nothing error
	if errors.Is(err, ErrNothing) {
		nothing, err = err, nil
	}
	err = s.Finish(err, func() error {
		if deliver == nil || nothing != nil {
			return nil
		}
		return deliver(made)
	})
	if err = errors.Join(err, nothing); err != nil {
		return out, s, err
	}
	return made, s, nil
}

// ErrNothing is wrapped by the error of a run whose budget was too small for the table to say
// anything, and stays spent.
var ErrNothing = errors.New("no column stands out of the noise")

// Paid is what a result says of its price. As a part of its struct, it is one of its JSON.
type Paid struct {
	Budget         accountant.Budget    `json:"budget"`
	Adjacency      accountant.Adjacency `json:"adjacency"` // which tables are neighbours
	Unit           string               `json:"unit,omitempty"`
	MaxRowsPerUnit int                  `json:"max_rows_per_unit,omitempty"` // with Unit
}

// PaidIn is the price of a run that has been paid for.
func PaidIn(s *privacy.Session) Paid {
	reserve := s.Ledger().Entries[1]
	return paid(*reserve.Budget, reserve)
}

func paid(b accountant.Budget, reserve ledger.Entry) Paid {
	return Paid{b, reserve.Adjacency, reserve.Unit, reserve.MaxRowsPerUnit}
}

// Claim is what the result guarantees.
func (p Paid) Claim() Claim {
	return Claim{Epsilon: p.Budget.Epsilon, Delta: p.Budget.Delta, Adjacency: p.Adjacency,
		Unit: p.Unit, MaxRowsPerUnit: p.MaxRowsPerUnit}
}

// Proof is the last part of a [File]: as a part of its struct, it is one of its JSON.
type Proof struct {
	Ledger  ledger.Excerpt `json:"ledger"` // of the run
	altered bool           // it was read from a file that is not what would be written of it
}

func (p *Proof) proof() *Proof { return p }

// Account is the ledger of the run.
func (p *Proof) Account() ledger.Excerpt { return p.Ledger }

// File is what a run delivers, with a [Proof] in its JSON: a result, or the manifest of a model.
type File interface {
	// States has the claim, and the program and its version, by the file's own word.
	States() (c Claim, tool string)
	// Check returns an error if the rest of the file is not of this run.
	Check(ledger.VerifiedRun) error
	Account() ledger.Excerpt
	proof() *Proof
}

// Verify recomputes the claim of a file from the ledger in it, without data. Errors wrap
// [ErrClaim].
func Verify(f File, price accountant.Pricer) (Verification, error) {
	if m, ok := f.(*Model); ok {
		return m.Verify(price)
	}
	return verifyFile(f, price)
}

// Seal binds a file to the run that is about to deliver it, and verifies it.
func Seal(s *privacy.Session, f File) (err error) {
	if f.proof().Ledger, err = ledger.CloseExcerpt(s, f); err == nil {
		_, err = Verify(f, nil)
	}
	return err
}

// FileWriter writes a file, indented.
func FileWriter(f File) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		return e.Encode(f)
	}
}

// What a file of JSON may hold is bounded before it is decoded, as an empty list takes more memory
// than its two bytes.
const (
	maxBytes = 64 << 20
	maxLists = 200_000
)

// fileVersion is the version of the JSON of every kind of file, the value of its first key.
const fileVersion = 1

// ReadFile reads the JSON of a file, of which kinds has an empty one by the name of its first key.
// It verifies nothing, but notes whether the text says anything else than what would be written of
// the file, such as a key twice: another program might read another value there. Errors: r's, and
// those of a text that is no such JSON, or too long, which wrap [ErrFormat].
func ReadFile(r io.Reader, kinds map[string]File) (File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxLists ||
		len(text) > maxBytes {
		return nil, fmt.Errorf("more than %d MiB, or %d lists and objects: %w", maxBytes>>20, maxLists,
			ErrFormat)
	}
	head := json.NewDecoder(bytes.NewReader(text))
	head.Token()
	kind, _ := head.Token()
	version, _ := head.Token()
	name, _ := kind.(string)
	f := kinds[name]
	if f == nil || version != float64(fileVersion) {
		return nil, ErrFormat
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(f)
	now, other := json.Marshal(f)
	if err = cmp.Or(err, other); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	f.proof().altered = !sameJSON(text, now)
	return f, nil
}
