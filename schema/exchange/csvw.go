package exchange

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// fromCSVW reads CSV on the Web metadata (https://www.w3.org/TR/tabular-metadata) of one table, or
// of several, of which one is taken by its url.
func fromCSVW(top object, table string) (*Draft, error) {
	above := []object{top} // whose properties a column inherits, the nearest last
	if _, several := top["tables"]; several {
		tables, ok := objects(top["tables"])
		if !ok {
			return nil, invalid("its tables are no list of objects")
		}
		var names []string
		for _, t := range tables {
			names = append(names, t.text("url"))
		}
		at, err := choose(names, table)
		if err != nil {
			return nil, err
		}
		top = tables[at]
		above = append(above, top)
	} else if table != "" && table != top.text("url") {
		return nil, invalid("it describes the table %q, not %q", top.text("url"), table)
	}
	description, ok := objectOf(top["tableSchema"])
	if !ok {
		return nil, invalid("it has no tableSchema of its own")
	}
	columns, ok := objects(description["columns"])
	if !ok || len(columns) == 0 {
		return nil, invalid("its tableSchema has no columns")
	}
	above = append(above, description)
	ids, _ := description.texts("primaryKey")
	d := &Draft{Notes: []string{"imported from CSVW metadata, which say no categories"}}
	for _, c := range columns {
		if c.text("virtual") == "true" {
			continue
		}
		if c.text("suppressOutput") == "true" {
			d.Notes = append(d.Notes, "column "+quoted(csvwName(c))+" is suppressed there, and kept here")
		}
		inherited := object{}
		for _, o := range append(above[:len(above):len(above)], c) {
			for key, value := range o {
				inherited[key] = value
			}
		}
		inherited["required"] = c["required"]
		x, err := csvwColumn(inherited)
		if err != nil {
			return nil, err
		}
		if len(ids) == 1 && ids[0] == c.text("name") {
			x.leftOut = isID
		}
		d.add(csvwName(c), x)
	}
	return d, nil
}

// csvwName is the name in the header of the file: the first title, if there is one.
func csvwName(c object) string {
	if titles, _ := c.texts("titles"); len(titles) > 0 {
		return titles[0]
	}
	var languages map[string]json.RawMessage
	if json.Unmarshal(c["titles"], &languages) == nil {
		for _, titles := range languages {
			if all, _ := (object{"": titles}).texts(""); len(languages) == 1 && len(all) > 0 {
				return all[0]
			}
		}
	}
	return c.text("name")
}

// csvwTypes are the built-in datatypes that a schema can have; the others it cannot.
var csvwTypes = map[string]described{
	"": {kind: schema.Categorical}, "string": {kind: schema.Categorical},
	"normalizedString": {kind: schema.Categorical}, "token": {kind: schema.Categorical},
	"any": {}, "anyAtomicType": {}, "boolean": {kind: schema.Boolean},
	"decimal": {kind: schema.Real}, "double": {kind: schema.Real}, "float": {kind: schema.Real},
	"number": {kind: schema.Real}, "integer": {kind: schema.Integer}, "long": {kind: schema.Integer},
	"int": {kind: schema.Integer}, "unsignedLong": {kind: schema.Integer, min: "0"},
	"unsignedInt":        {kind: schema.Integer, min: "0"},
	"nonNegativeInteger": {kind: schema.Integer, min: "0"},
	"positiveInteger":    {kind: schema.Integer, min: "1"},
	"nonPositiveInteger": {kind: schema.Integer, max: "0"},
	"negativeInteger":    {kind: schema.Integer, max: "-1"},
	"byte":               small(8, false), "unsignedByte": small(8, true),
	"short": small(16, false), "unsignedShort": small(16, true), "gYear": {kind: schema.Integer},
	"date": {kind: schema.Date}, "dateTime": {kind: schema.Timestamp},
	"datetime": {kind: schema.Timestamp}, "dateTimeStamp": {kind: schema.Timestamp},
}

// small is a whole number of a small machine type, with a sign or without.
func small(bits int, unsigned bool) described {
	least, most := -1<<(bits-1), 1<<(bits-1)-1
	if unsigned {
		least, most = 0, 1<<bits-1
	}
	return described{kind: schema.Integer, min: strconv.Itoa(least), max: strconv.Itoa(most)}
}

func csvwColumn(c object) (described, error) {
	kind := c.text("datatype")
	limits, derived := objectOf(c["datatype"])
	if derived {
		kind = limits.text("base")
	}
	x, known := csvwTypes[kind]
	if !known {
		return described{leftOut: noValue(kind)}, nil
	}
	if c.text("separator") != "" {
		return described{leftOut: "its cells are lists"}, nil
	}
	if x.missing, _ = c.texts("null"); len(c["null"]) == 0 {
		x.missing = []string{""}
	}
	if c.text("required") == "true" {
		x.missing = nil
	}
	for key, end := range map[string]*string{"minimum": &x.min, "minInclusive": &x.min,
		"minExclusive": &x.min, "maximum": &x.max, "maxInclusive": &x.max, "maxExclusive": &x.max} {
		if text := limits.text(key); text != "" {
			*end = text
		}
	}
	x.above, x.below = limits.text("minExclusive") != "", limits.text("maxExclusive") != ""
	format := limits.text("format")
	switch {
	case x.kind == schema.Integer || x.kind == schema.Real:
		if number, ok := objectOf(limits["format"]); ok && (number.text("groupChar") != "" ||
			number.text("decimalChar") != "" && number.text("decimalChar") != ".") {
			x.leftOut = decimalComma
		}
	case x.kind == schema.Boolean && format != "":
		yes, no, ok := strings.Cut(format, "|")
		if !ok || yes == "" || no == "" || yes == no {
			return x, invalid("column %q: the format %s of a boolean is not true|false in two texts",
				csvwName(c), quoted(format))
		}
		x.categories = []string{no, yes}
	default:
		x.pattern = strings.ReplaceAll(format, "'", "") // around literal letters
	}
	return x, nil
}
