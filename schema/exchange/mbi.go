package exchange

import (
	"encoding/json"

	"github.com/decoy-dp/decoy/schema"
)

// fromMBI reads {"age": 85, "sex": 2}: the number of codes of each column, which are the whole
// numbers from 0.
func fromMBI(data []byte) (*Draft, error) {
	entries, err := members(data)
	if err != nil {
		return nil, err
	}
	d := &Draft{Notes: []string{"imported from an mbi domain: each column holds the codes 0 to " +
		"size-1"}}
	for _, m := range entries {
		var size int
		if json.Unmarshal(m.value, &size) != nil || size < 1 || size > 1<<16 {
			return nil, invalid("column %q: its size must be a whole number from 1 to 65536", m.key)
		}
		d.Columns = append(d.Columns, Column{Column: schema.Column{Name: m.key, Kind: schema.Integer,
			Max: float64(size - 1), Bins: size}})
	}
	return d, nil
}
