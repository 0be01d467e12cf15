package exchange

import (
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// fromJSONSchema reads a JSON Schema of one row, an object with a property for each column, or of a
// list of such rows.
func fromJSONSchema(root object, table string) (*Draft, error) {
	if err := unnamed(table); err != nil {
		return nil, err
	}
	row := root
	if items, ok := objectOf(row["items"]); ok {
		row = items
	}
	row, ok := resolve(root, row)
	if !ok || len(row["properties"]) == 0 {
		return nil, invalid("it has no properties: a row is an object with a property for each column")
	}
	properties, err := members(row["properties"])
	if err != nil {
		return nil, err
	}
	required, _ := row.texts("required")
	d := &Draft{Notes: []string{"imported from a JSON Schema of one row"}}
	for _, m := range properties {
		p, ok := objectOf(m.value)
		if ok {
			p, ok = resolve(root, p)
		}
		if !ok {
			return nil, invalid("property %q is no object, or refers to none in the file", m.key)
		}
		x := rowProperty(root, p)
		if !slices.Contains(required, m.key) && len(x.missing) == 0 {
			x.missing = []string{""}
		}
		d.add(m.key, x)
	}
	return d, nil
}

// mostReferences is how many a chain of references may have.
const mostReferences = 16

// resolve follows references within the file.
func resolve(root, o object) (object, bool) {
	for range mostReferences {
		reference := o.text("$ref")
		if reference == "" {
			return o, true
		}
		path, ok := strings.CutPrefix(reference, "#/")
		at := root
		for _, key := range strings.Split(path, "/") {
			key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
			if ok {
				at, ok = objectOf(at[key])
			}
		}
		if !ok {
			return nil, false
		}
		o = at
	}
	return nil, false
}

// rowTypes are the types of a property that a schema can have, null apart.
var rowTypes = map[string]schema.Kind{"string": schema.Categorical, "boolean": schema.Boolean,
	"integer": schema.Integer, "number": schema.Real}

func rowProperty(root, p object) described {
	var x described
	for _, key := range []string{"anyOf", "oneOf"} { // one type or null
		choices, _ := objects(p[key])
		nulls := slices.DeleteFunc(slices.Clone(choices), func(o object) bool {
			return o.text("type") != "null"
		})
		rest := slices.DeleteFunc(choices, func(o object) bool { return o.text("type") == "null" })
		if len(nulls) > 0 {
			x.missing = []string{""}
		}
		if len(rest) == 1 {
			if one, ok := resolve(root, rest[0]); ok {
				p = one
			}
		}
	}
	types, _ := p.texts("type")
	if slices.Contains(types, "null") {
		types, x.missing = slices.DeleteFunc(types, func(t string) bool { return t == "null" }),
			[]string{""}
	}
	for _, t := range types {
		kind, known := rowTypes[t]
		if !known {
			x.leftOut = noValue(t)
		}
		if x.kind = kind; len(types) > 1 {
			x.kind = 0 // as each may be
		}
	}
	var null bool
	if x.categories, null = p.texts("enum"); null {
		x.missing = []string{""}
	}
	if fixed := p.text("const"); fixed != "" {
		x.categories = []string{fixed}
	}
	switch x.kind {
	case schema.Categorical:
		switch format := p.text("format"); format {
		case "":
		case "date":
			x.kind = schema.Date
		case "date-time":
			x.kind = schema.Timestamp
		default:
			x.leftOut = noValue(format)
		}
	case schema.Boolean:
		x.categories = nil
	}
	for key, end := range map[string]*string{"minimum": &x.min, "maximum": &x.max} {
		*end = p.text(key)
	}
	if text := p.text("exclusiveMinimum"); text != "" && text != "true" && text != "false" {
		x.min, x.above = text, true
	}
	if text := p.text("exclusiveMaximum"); text != "" && text != "true" && text != "false" {
		x.max, x.below = text, true
	}
	x.above = x.above || p.text("exclusiveMinimum") == "true" // of draft 4
	x.below = x.below || p.text("exclusiveMaximum") == "true"
	return x
}
