package exchange

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// fromCroissant reads Croissant metadata (https://docs.mlcommons.org/croissant): a record set is a
// table, unless its rows are in the file itself; such are the enumerations that fields refer to.
func fromCroissant(top object, table string) (*Draft, error) {
	sets, ok := objects(top["recordSet"])
	if !ok || len(sets) == 0 {
		return nil, invalid("it has no recordSet")
	}
	listed := map[string][]string{} // texts of an enumeration, by the id of a field or record set
	var tables []object
	var names []string
	for _, set := range sets {
		if rows, ok := objects(set["data"]); ok && len(rows) > 0 {
			enumerate(listed, set, rows)
			continue
		}
		tables, names = append(tables, set), append(names, croissantName(set))
	}
	at, err := choose(names, table)
	if err != nil {
		return nil, err
	}
	fields, ok := objects(tables[at]["field"])
	if !ok || len(fields) == 0 {
		return nil, invalid("record set %q has no field", names[at])
	}
	var key []string
	if ids, ok := objects(tables[at]["key"]); ok {
		for _, id := range ids {
			key = append(key, id.text("@id"))
		}
	} else if id, ok := objectOf(tables[at]["key"]); ok {
		key = []string{id.text("@id")}
	}
	d := &Draft{Notes: []string{"imported from Croissant metadata, which say no bounds"}}
	for _, f := range fields {
		x := croissantField(f, listed)
		if len(key) == 1 && key[0] != "" && key[0] == f.text("@id") {
			x.leftOut = isID
		}
		source, _ := objectOf(f["source"])
		extract, _ := objectOf(source["extract"])
		name := extract.text("column")
		if name == "" {
			name = croissantName(f)
		}
		d.add(name, x)
	}
	return d, nil
}

// croissantName is the name of a node, or the end of its id.
func croissantName(o object) string {
	if name := o.text("name"); name != "" {
		return name
	}
	id := o.text("@id")
	return id[strings.LastIndexAny(id, "/#")+1:]
}

// enumerate lists the values of each field of rows in the file.
func enumerate(listed map[string][]string, set object, rows []object) {
	fields, _ := objects(set["field"])
	for i, f := range fields {
		var texts []string
		for _, row := range rows {
			for _, key := range []string{f.text("@id"), croissantName(f)} {
				if text, ok := scalar(row[key]); ok && key != "" && !slices.Contains(texts, text) {
					texts = append(texts, text)
					break
				}
			}
		}
		if listed[f.text("@id")] = texts; i == 0 {
			listed[set.text("@id")] = texts
		}
	}
}

// croissantTypes are data types, without their prefix, that a schema can have.
var croissantTypes = map[string]described{
	"Text": {kind: schema.Categorical}, "Enumeration": {kind: schema.Categorical},
	"Boolean": {kind: schema.Boolean}, "Integer": {kind: schema.Integer},
	"Float": {kind: schema.Real}, "Number": {kind: schema.Real},
	"Float16": {kind: schema.Real}, "Float32": {kind: schema.Real}, "Float64": {kind: schema.Real},
	"Int8": small(8, false), "UInt8": small(8, true), "Int16": small(16, false),
	"UInt16": small(16, true), "Int32": {kind: schema.Integer}, "Int64": {kind: schema.Integer},
	"UInt32": {kind: schema.Integer, min: "0"}, "UInt64": {kind: schema.Integer, min: "0"},
	"Date": {kind: schema.Date}, "DateTime": {kind: schema.Timestamp},
}

func croissantField(f object, listed map[string][]string) described {
	var x described
	types, _ := f.texts("dataType")
	for _, kind := range types {
		if at := strings.LastIndexAny(kind, ":/#"); at >= 0 && kind != "" {
			kind = kind[at+1:]
		}
		said, known := croissantTypes[kind]
		switch {
		case !known && (x.kind == 0 || strings.HasSuffix(kind, "Object") || kind == "URL"):
			x.leftOut = noValue(kind)
		case known && x.kind != schema.Categorical: // an enumeration of numbers is a list of texts
			x = said
		}
	}
	for _, key := range []string{"repeated", "isArray"} {
		if f.text(key) == "true" {
			x.leftOut = "its cells are lists"
		}
	}
	if x.leftOut != "" {
		return x
	}
	source, _ := objectOf(f["source"])
	x.pattern = source.text("format")
	var refers struct {
		ID    string `json:"@id"`
		Field struct {
			ID string `json:"@id"`
		} `json:"field"`
	}
	if json.Unmarshal(f["references"], &refers) == nil {
		for _, id := range []string{refers.ID, refers.Field.ID} {
			if texts := listed[id]; len(texts) > 0 {
				x.categories = texts
			}
		}
	}
	return x
}
