package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

// JSONSchema writes a valid schema as a JSON Schema (draft 2020-12) of one row: an object with a
// property for each column, in the order of the schema, and nothing else. Numbers have their
// bounds, categories and the texts of a boolean are an enum (true and false where the texts are
// those words), dates and timestamps are texts, and a column that may be missing may be null. Of a
// column that follows from others only the type is said, of rules nothing. The unit is not part of
// it. The error is that of schema.Validate.
func JSONSchema(s *schema.Schema) ([]byte, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	var properties, required [][]byte
	for _, f := range rows.Columns() {
		var c *schema.Column
		if f.Column >= 0 && s.Columns[f.Column].After == "" {
			filled := rows.Codecs()[f.Column].Column()
			c = &filled
		}
		name, err := json.Marshal(f.Name)
		body, err2 := json.Marshal(propertyOf(f, c))
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		required = append(required, name)
		properties = append(properties, fmt.Appendf(nil, "%s: %s", name, body))
	}
	text := fmt.Appendf(nil, `{"$schema": "https://json-schema.org/draft/2020-12/schema", `+
		`"$comment": "one row of a table with the decoy schema of SHA-256 %s", "type": "object", `+
		`"properties": {%s}, "required": [%s], "additionalProperties": false}`, s.Fingerprint(),
		bytes.Join(properties, []byte(",")), bytes.Join(required, []byte(",")))
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	return append(out.Bytes(), '\n'), nil
}

// property is a column as a JSON Schema.
type property struct {
	Type    any      `json:"type,omitempty"` // a name, or a list of them
	Enum    []any    `json:"enum,omitempty"`
	Format  string   `json:"format,omitempty"`
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	Comment string   `json:"$comment,omitempty"`
}

// formats are the names in a JSON Schema of the layouts that have one.
var formats = map[string]string{time.DateOnly: "date", time.RFC3339: "date-time"}

// propertyOf is a column of files; c is nil for one that follows from others of its row, or means
// nothing.
func propertyOf(f schema.FileColumn, c *schema.Column) (p property) {
	kind := "string"
	switch f.Stored {
	case schema.StoredInt:
		kind = "integer"
	case schema.StoredFloat:
		kind = "number"
	}
	switch {
	case c == nil:
		p.Comment = "made from other columns"
	case kind != "string":
		p.Minimum, p.Maximum = &c.Min, &c.Max
	case c.Kind.Ordered():
		p.Format, p.Comment = formats[c.Format], "Go layout "+c.Format
	case f.Stored == schema.StoredBool && slices.Equal(c.Categories, []string{"false", "true"}):
		kind = "boolean"
	default:
		for _, text := range c.Categories {
			p.Enum = append(p.Enum, text)
		}
		if f.Nullable {
			p.Enum = append(p.Enum, nil)
		}
		return p
	}
	p.Type = kind
	if f.Nullable {
		p.Type = []string{kind, "null"}
	}
	return p
}
