// Package excerpt reads the ledger of one run that is inside another file.
package excerpt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/decoy-dp/decoy/ledger"
)

// maxEntries is the most entries that the ledger of one run may have inside another file.
const maxEntries = 100_000

// Entries are a ledger inside another file: as JSON an array, which is read entry by entry. One of
// more than maxEntries, or with an unknown key, is refused (ledger.ErrInvalid) before the rest of
// it takes memory.
type Entries []ledger.Entry

// UnmarshalJSON reads the array.
func (es *Entries) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	*es = nil
	switch t, err := d.Token(); {
	case err == nil && t == nil: // null
		return nil
	case err != nil || t != json.Delim('['):
		return fmt.Errorf("ledger: not a list of entries: %w", ledger.ErrInvalid)
	}
	for d.More() {
		if len(*es) == maxEntries {
			return fmt.Errorf("ledger: more than %d entries: %w", maxEntries, ledger.ErrInvalid)
		}
		var e ledger.Entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("ledger: entry %d: %w: %w", len(*es), ledger.ErrInvalid, err)
		}
		*es = append(*es, e)
	}
	return nil
}
