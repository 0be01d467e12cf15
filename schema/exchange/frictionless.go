package exchange

import (
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// fromFrictionless reads a Table Schema (https://specs.frictionlessdata.io/table-schema), alone or
// in the resources of a Data Package.
func fromFrictionless(top object, table string) (*Draft, error) {
	if _, several := top["resources"]; several {
		resources, ok := objects(top["resources"])
		if !ok {
			return nil, invalid("its resources are no list of objects")
		}
		var names []string
		for _, r := range resources {
			names = append(names, r.text("name"))
		}
		at, err := choose(names, table)
		if err != nil {
			return nil, err
		}
		if top, ok = objectOf(resources[at]["schema"]); !ok {
			return nil, invalid("resource %q has no schema of its own", names[at])
		}
	} else if err := unnamed(table); err != nil {
		return nil, err
	}
	fields, ok := objects(top["fields"])
	if !ok || len(fields) == 0 {
		return nil, invalid("it has no fields: is it a Table Schema or a Data Package?")
	}
	tokens := []string{""}
	if _, said := top["missingValues"]; said {
		tokens, _ = top.texts("missingValues")
	}
	ids, _ := top.texts("primaryKey")
	d := &Draft{Notes: []string{"imported from a Frictionless Table Schema"}}
	for _, f := range fields {
		x := frictionlessField(f, tokens)
		if len(ids) == 1 && ids[0] == f.text("name") {
			x.leftOut = isID
		}
		d.add(f.text("name"), x)
	}
	return d, nil
}

// frictionlessTypes are the types of a field that a schema can have; the others it cannot.
var frictionlessTypes = map[string]schema.Kind{
	"": 0, "any": 0, "string": schema.Categorical, "boolean": schema.Boolean,
	"integer": schema.Integer, "year": schema.Integer, "number": schema.Real,
	"date": schema.Date, "datetime": schema.Timestamp,
}

func frictionlessField(f object, tokens []string) described {
	kind, known := frictionlessTypes[f.text("type")]
	limits, _ := objectOf(f["constraints"])
	x := described{kind: kind, missing: tokens, min: limits.text("minimum"),
		max: limits.text("maximum")}
	if x.categories, _ = limits.texts("enum"); len(x.categories) == 0 {
		x.categories, _ = f.texts("categories")
	}
	if limits.text("required") == "true" {
		x.missing = nil
	}
	format := f.text("format")
	switch {
	case !known:
		x.leftOut = noValue(f.text("type"))
	case limits.text("unique") == "true":
		x.leftOut = isID
	case kind == schema.Categorical && format != "" && format != "default":
		x.leftOut = noValue(format)
	case f.text("decimalChar") != "" && f.text("decimalChar") != ".", f.text("groupChar") != "",
		f.text("bareNumber") == "false":
		x.leftOut = decimalComma
	case (kind == schema.Date || kind == schema.Timestamp) && format != "any" && format != "default":
		x.pattern = format
	case kind == schema.Boolean:
		x.categories = nil
		no, _ := f.texts("falseValues")
		yes, _ := f.texts("trueValues")
		if len(no) == 1 && len(yes) == 1 && !slices.Equal(no, yes) {
			x.categories = []string{no[0], yes[0]}
		} else if len(no)+len(yes) > 0 {
			x.note = "it has several texts for true or false: they are read as far as they are usual"
		}
	}
	return x
}
