package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxEntries is the most entries that the ledger of one run may have inside another file.
const MaxEntries = 100_000

// Entries are a ledger inside another file: as JSON an array, which is read entry by entry. One of
// more than MaxEntries, or with an unknown key, is refused (ErrInvalid) before the rest of it takes
// memory.
type Entries []Entry

// UnmarshalJSON reads the array.
func (es *Entries) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	*es = nil
	switch t, err := d.Token(); {
	case err == nil && t == nil: // null
		return nil
	case err != nil || t != json.Delim('['):
		return fmt.Errorf("ledger: not a list of entries: %w", ErrInvalid)
	}
	for d.More() {
		if len(*es) == MaxEntries {
			return fmt.Errorf("ledger: more than %d entries: %w", MaxEntries, ErrInvalid)
		}
		var e Entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("ledger: entry %d: %w: %w", len(*es), ErrInvalid, err)
		}
		*es = append(*es, e)
	}
	return nil
}
