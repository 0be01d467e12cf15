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
		switch {
		case table == "" && len(all) == 1:
			top, err = members(all[0].value)
		case table == "":
			return nil, invalid("it describes %d tables (%s): name one", len(all), strings.Join(names, ", "))
		default:
			one := find(all, table)
			if one == nil {
				return nil, invalid("it has no table %q, but %s", table, strings.Join(names, ", "))
			}
			top, err = members(one)
		}
		if err != nil {
			return nil, err
		}
	} else if table != "" {
		return nil, invalid("it describes one table without a name, not %q", table)
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
		column, note := c.column(m.key)
		if note != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("column %q: %s", m.key, note))
		}
		if column != nil {
			d.Columns = append(d.Columns, *column)
		}
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

// wholeRanges are the bounds that a small machine type says.
var wholeRanges = map[string][2]float64{"Int8": {-128, 127}, "UInt8": {0, 255}, "Int16": {-32768,
	32767}, "UInt16": {0, 65535}}

// column is the column; nil with a note if a schema cannot have it.
func (c sdvColumn) column(name string) (*Column, string) {
	out := &Column{Column: schema.Column{Name: name}}
	switch c.SDType {
	case "boolean":
		out.Kind = schema.Boolean
	case "categorical":
		out.Kind, out.Open = schema.Categorical, "the categories"
	case "numerical":
		out.Kind, out.Open = schema.Real, "the bounds min and max, inclusive"
		if strings.Contains(c.Representation, "Int") {
			out.Kind = schema.Integer
		}
		if r, ok := wholeRanges[c.Representation]; ok {
			out.Min, out.Max, out.OnInvalid, out.Open = r[0], r[1], schema.Clamp, ""
			return out, fmt.Sprintf("bounds are those of %s: narrower ones need less noise",
				c.Representation)
		}
	case "datetime":
		layout, ok := schema.Layout(c.Format)
		out.Kind, out.Open = schema.Date, "the bounds min and max, in the format"
		if regexp.MustCompile("%[HIMSfTcX]").MatchString(c.Format) {
			out.Kind = schema.Timestamp
		}
		if !ok {
			out.Open += fmt.Sprintf("; and the format, as a Go layout (SDV says %s)", quoted(c.Format))
		} else {
			out.Format = layout
		}
	case "id":
		return nil, "left out: an id. If one person has several rows, name it as unit, with " +
			"max_rows_per_unit"
	default:
		return nil, fmt.Sprintf("left out: of the kind %q no synthetic value can be made", c.SDType)
	}
	return out, ""
}
