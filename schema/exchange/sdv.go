package exchange

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// sdvColumn is what SDV metadata say of a column.
type sdvColumn struct {
	SDType         string `json:"sdtype"`
	Format         string `json:"datetime_format"`
	Representation string `json:"computer_representation"`
}

// fromSDV reads metadata of one table (SINGLE_TABLE_V1) or of several (V1, MULTI_TABLE_V1), of
// which one is taken.
func fromSDV(data []byte, table string) (*Draft, error) {
	top, err := members(data)
	if err != nil {
		return nil, err
	}
	if tables := find(top, "tables"); tables != nil {
		all, err := members(tables)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, m := range all {
			names = append(names, m.key)
		}
		at, err := choose(names, table)
		if err != nil {
			return nil, err
		}
		if top, err = members(all[at].value); err != nil {
			return nil, err
		}
	} else if err := unnamed(table); err != nil {
		return nil, err
	}
	columns := find(top, "columns")
	if columns == nil {
		return nil, invalid("it has no columns")
	}
	entries, err := members(columns)
	if err != nil {
		return nil, err
	}
	d := &Draft{Notes: []string{"imported from SDV metadata, which say neither bounds nor " +
		"categories: fill in what is open, or buy a schema with decoy schema infer"}}
	for _, m := range entries {
		var c sdvColumn
		if json.Unmarshal(m.value, &c) != nil || c.SDType == "" {
			return nil, invalid("column %q has no sdtype", m.key)
		}
		d.add(m.key, c.described())
	}
	return d, nil
}

func find(all []member, key string) json.RawMessage {
	for _, m := range all {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// sdvWhole are the representations of small whole numbers.
var sdvWhole = map[string]described{"Int8": small(8, false), "UInt8": small(8, true),
	"Int16": small(16, false), "UInt16": small(16, true)}

// clock has the codes of a format that tell the time of day.
var clock = regexp.MustCompile("%[HIMSfTcX]")

func (c sdvColumn) described() described {
	switch c.SDType {
	case "boolean":
		return described{kind: schema.Boolean}
	case "categorical":
		return described{kind: schema.Categorical}
	case "numerical":
		if x, ok := sdvWhole[c.Representation]; ok {
			x.note = fmt.Sprintf("bounds are those of %s: narrower ones need less noise", c.Representation)
			return x
		}
		if strings.Contains(c.Representation, "Int") {
			return described{kind: schema.Integer}
		}
		return described{kind: schema.Real}
	case "datetime":
		kind := schema.Date
		if clock.MatchString(c.Format) {
			kind = schema.Timestamp
		}
		return described{kind: kind, pattern: c.Format}
	case "id":
		return described{leftOut: isID}
	}
	return described{leftOut: noValue(c.SDType)}
}
