package ledger

import (
	"errors"
	"slices"
	"time"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

var (
	// ErrInvalid is wrapped by every error about a ledger that cannot be read or does not verify.
	ErrInvalid = errors.New("invalid ledger")
	// ErrTorn reports a last line without its newline: an append that did not finish.
	ErrTorn = errors.New("torn last ledger line")
	// ErrUnsigned is wrapped by every error about a limit without the signature that it needs.
	ErrUnsigned = errors.New("its signature is missing or wrong")
)

// Kind is what a ledger line records.
type Kind string

const (
	EntryOpen    Kind = "open"    // first line of a file; of a journal too, which has no limit
	EntryLimit   Kind = "limit"   // from here on the file has this limit
	EntryReserve Kind = "reserve" // a run takes its whole budget
	EntryCharge  Kind = "charge"  // a mechanism call of a run
	// another process goes on with a run whose own was killed; it spends nothing
	EntryResume Kind = "resume"
	EntryClose  Kind = "close" // a run ended
)

// Rule says how the budgets of several runs add up.
type Rule string

const (
	RuleBasic Rule = "basic" // Σε and Σδ of the runs' budgets; the default
	RuleZCDP  Rule = "zcdp"  // the sum of ρ of the compositions
)

// Status of a closed run.
const (
	StatusDone       = "done"
	StatusFailed     = "failed"
	StatusCancelled  = "cancelled"
	StatusUnfinished = "unfinished" // no close line yet; the run is going on or was killed
)

// Entry is one line of a ledger. Fields that do not belong to its kind are empty and are not
// written.
type Entry struct {
	Seq            int                    `json:"seq"`
	Time           time.Time              `json:"time,omitzero"`
	Kind           Kind                   `json:"kind"`
	Run            string                 `json:"run,omitzero"`
	Adjacency      accountant.Adjacency   `json:"adjacency,omitzero"`
	Unit           string                 `json:"unit,omitzero"`
	MaxRowsPerUnit int                    `json:"max_rows_per_unit,omitzero"`
	Budget         *accountant.Budget     `json:"budget,omitzero"`
	Rule           Rule                   `json:"rule,omitzero"`
	MostRuns       int                    `json:"runs,omitzero"` // of a limit; 0: any number
	Key            string                 `json:"key,omitzero"`  // whose signature the next limit needs
	Signature      string                 `json:"signature,omitzero"`
	Composition    accountant.Composition `json:"composition,omitzero"`
	Method         string                 `json:"method,omitzero"`
	SchemaSHA256   string                 `json:"schema_sha256,omitzero"`
	Tool           string                 `json:"tool,omitzero"`
	Label          string                 `json:"label,omitzero"`
	Event          *accountant.Charge     `json:"charge,omitzero"`
	Answer         string                 `json:"answer,omitzero"` // of a charge: hash of what it bought
	Status         string                 `json:"status,omitzero"`
	Outputs        string                 `json:"outputs,omitzero"` // of a close: hash of what left
	// in a journal, which is secret: the answer that this line and those before it bought
	Data []byte `json:"data,omitzero"`
	Prev string `json:"prev"`
	Hash string `json:"hash,omitzero"`
}

// Clone returns a copy that shares no memory with e.
func (e Entry) Clone() Entry {
	if e.Budget != nil {
		e.Budget = new(*e.Budget)
	}
	if e.Event != nil {
		e.Event = new(*e.Event)
	}
	e.Composition = slices.Clone(e.Composition)
	return e
}

// Ledger is the entries of one file, in order.
type Ledger struct {
	Entries []Entry
}
