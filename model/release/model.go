// Package release is what leaves after a fit: one model file that holds a manifest (public schema,
// privacy claim, ledger of the run, versions) and the parameters that the mechanisms released. A
// model file holds no private row, needs none to be sampled or verified, and nothing in it is
// executed.
//
// The file is a zip archive of two entries, manifest.json and parameters.bin, which any zip tool
// can take apart.
package release

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

var (
	// ErrFormat is wrapped by every error about a file that is not a model file of a known version.
	ErrFormat = errors.New("not a decoy model file")
	// ErrClaim is wrapped by every error of [Model.Verify]: the file does not support its own claim.
	ErrClaim = errors.New("the claim does not hold")
)

// formatVersion is the version of the manifest that this package writes.
const formatVersion = 1

// Claim is the privacy guarantee of a model and of everything sampled from it: (Epsilon,
// Delta)-differential privacy for the neighbouring relation of one unit; if it is Local, of each
// answer too that the model was made of.
type Claim struct {
	Epsilon   float64              `json:"epsilon"`
	Delta     float64              `json:"delta"`
	Adjacency accountant.Adjacency `json:"adjacency"`
	// id column; "" = one row
	Unit           string `json:"unit,omitempty"`
	MaxRowsPerUnit int    `json:"max_rows_per_unit,omitempty"` // with Unit
	// of a joint model: whether a unit may have rows at several parties
	People People `json:"people,omitempty"`
	// of randomised answers: each row was answered for with noise before anything was collected
	Local bool `json:"local,omitempty"`
	// of linked tables: with a unit come or go its rows in all of them
	Linked bool  `json:"linked,omitempty"`
	Among  Among `json:"among,omitzero"` // of sums over several parties
}

// String is the claim as a sentence.
func (c Claim) String() string {
	local := ""
	if c.Local {
		local = "local "
	}
	return fmt.Sprintf("(ε = %v, δ = %v)-%sdifferential privacy under %s", c.Epsilon, c.Delta, local,
		c.relation())
}

// relation is what neighbouring tables differ by.
func (c Claim) relation() string {
	text := "adding or removing one row"
	switch {
	case c.Linked:
		text = fmt.Sprintf("adding or removing one %q, with all its rows in all tables", c.Unit)
	case c.Unit != "":
		text = fmt.Sprintf("adding or removing all rows of one %q, of which at most %d are used",
			c.Unit, c.MaxRowsPerUnit)
	}
	if c.Adjacency == accountant.ReplaceOne {
		text = strings.Replace(text, "adding or removing", "replacing", 1)
	}
	switch {
	case c.People == MayOverlap && c.Unit == "":
		text += " of each party"
	case c.People == MayOverlap:
		text += " at each party"
	case c.People == Disjoint && c.Adjacency == accountant.ReplaceOne:
		text += ", by others of the same party, if nobody is at two parties"
	case c.People == Disjoint:
		text += ", if nobody is at two parties"
	case c.Among != Among{}:
		text += c.Among.String()
	}
	return text
}

// Manifest is the readable part of a model file.
type Manifest struct {
	Format  int       `json:"format"`
	Tool    string    `json:"tool"`    // program and version that fitted the model
	Created time.Time `json:"created"` // the day of the reservation, and no other clock
	Method  string    `json:"method"`
	Claim   Claim     `json:"claim"`
	// noisy number of rows of the private table, as the model estimates it
	Rows         float64 `json:"rows"`
	SchemaYAML   string  `json:"schema"`        // the public schema
	SchemaSHA256 string  `json:"schema_sha256"` // its fingerprint
	// the schema of the ledger's reservation, if the run bought bins (bins: dp)
	DeclaredYAML string              `json:"declared_schema,omitempty"`
	Settings     settings            `json:"settings,omitempty"` // of the method; public
	Proof                            // this run's own entries, a chain of its own
	Outputs      string              `json:"outputs,omitempty"` // of a model without a Ledger, in its place
	Parties      []partner           `json:"parties,omitempty"` // of a joint model, which has no Ledger
	Sums         []accountant.Shares `json:"sums,omitempty"`    // of Claim.Among
	Parameters   parameters          `json:"parameters"`
}

// settings are those of a method, as JSON at most 4 MiB.
type settings map[string]any

// UnmarshalJSON reads the object; a value takes up to ten times the memory of its text.
func (s *settings) UnmarshalJSON(data []byte) error {
	if len(data) > maxSettings {
		return fmt.Errorf("settings of more than %d MiB", maxSettings>>20)
	}
	return json.Unmarshal(data, (*map[string]any)(s))
}

// parameters describes parameters.bin.
type parameters struct {
	Kind   string `json:"kind"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Fitted is what a method hands over for release.
type Fitted struct {
	Method string
	Tool   string
	Schema *schema.Schema // of the model's codes; of a [Linked] left out
	// of the private table, if the run bought the bins of Schema; nil: Schema
	Declared *schema.Schema
	Session  ledger.RunUnderWay // of the run
	Price    accountant.Pricer  // of its reservation; default closed formulas
	Settings map[string]any     // public settings and choices of the method, for inspect
	Params   Params
	Summed   Summed // of sums over several parties
}

// Model is a fitted model: a manifest and its parameters.
type Model struct {
	Manifest
	schema *schema.Schema
	params Params
	raw    []byte // parameters.bin
}

// New makes a model from what a method released. The ledger must be that of one run; the claim is
// checked with [Model.Verify] before the model is returned.
func New(f Fitted) (*Model, error) {
	run := f.Session.Ledger().Entries
	if len(run) < 2 || run[1].Budget == nil {
		return nil, fmt.Errorf("the ledger has no reservation: %w", ErrClaim)
	}
	reserve := run[1]
	if !validRows(f.Params.Total()) {
		return nil, fmt.Errorf("the number of rows is not from 0 to %g", float64(maxRows))
	}
	p, ok := f.Params.(*Linked)
	if ok {
		if err := p.of(p.Schema); err != nil {
			return nil, err
		}
		f.Schema, f.Declared = p.Schema.Tables[0].Schema, nil
	}
	m := &Model{schema: f.Schema, params: f.Params, Manifest: Manifest{
		Tool: f.Tool, Created: reserve.Time, Method: f.Method,
		Claim: paid(*reserve.Budget, reserve).Claim(), Settings: f.Settings, Sums: f.Summed.Sums,
		Proof: Proof{Ledger: run},
	}}
	m.Claim.Among, m.Claim.Linked = f.Summed.Among, ok
	if f.Declared != nil && f.Declared.Fingerprint() != f.Schema.Fingerprint() {
		declared, err := f.Declared.YAML()
		if err != nil {
			return nil, err
		}
		m.DeclaredYAML = string(declared)
	}
	return m.complete(f.Price, f.Session)
}

// complete adds to the manifest what the schema and the parameters say, and the hash of all of it,
// and checks the claim.
func (m *Model) complete(price accountant.Pricer, s ledger.RunUnderWay) (*Model, error) {
	if m.SchemaYAML == "" { // else as another file has it
		tables := m.Tables()
		yaml, err := tables.YAML()
		if err != nil {
			return nil, err
		}
		m.SchemaYAML, m.SchemaSHA256 = string(yaml), tables.Fingerprint()
	}
	var err error
	if m.raw, err = m.params.MarshalBinary(); err != nil {
		return nil, err
	}
	m.Format, m.Rows = formatVersion, m.params.Total()
	m.Parameters = parameters{Kind: m.params.Kind(), Bytes: len(m.raw), SHA256: digest(m.raw)}
	if err := m.bind(s); err != nil {
		return nil, err
	}
	_, err = m.Verify(price)
	return m, err
}

// maxRows is above every number of rows of a model. It is a noisy one, of which no method releases
// a negative value.
const maxRows = 1e15

func validRows(rows float64) bool { return rows >= 0 && rows < maxRows }

// Schema is the model's public schema.
func (m *Model) Schema() *schema.Schema { return m.schema }

// Params are the model's parameters: a *[Marginal] or a *[Generator]. They must not be changed.
func (m *Model) Params() Params { return m.params }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
