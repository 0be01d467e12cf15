package exchange

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/schema"
)

// form is where the files of another tool have what a schema needs: paths, as [at] takes them.
type form struct {
	name, note string
	yaml       bool   // else JSON
	tables     string // of a file of several tables, which have a name
	table      string // the name of one
	inline     string // rows in the file, which make a table a list of values
	inherits   string // objects whose keys the columns of a table inherit, besides it and the file
	row        string // what describes a row, if it is not the table itself
	columns    string // of a table: a list, or an object; "": it is the columns
	none       string // what to say if there are none
	ids        string // of a table: its key

	// of a column
	column         string // its name, in a list
	kind           string
	min, max       string
	above, below   string // bounds that are no values themselves
	categories     string
	format         string
	lists          string      // something but false, if cells are lists
	required       string      // true, if no cell is missing
	missing        string      // tokens
	emptyIsMissing bool        // if these are not said
	noKind         schema.Kind // of a column that does not say its kind
	// what paths do not say; may be nil
	more func(r *reading, n *yaml.Node, x *described) error
}

// forms are those that there are.
var forms = []form{
	{
		// {"age": 85, "sex": 2}: the number of codes of each column, whole numbers from 0
		name: "mbi", more: mbiColumn, note: "imported from an mbi domain: each column holds the codes " +
			"0 to size-1",
		none: "it has no columns",
	},
	{
		// https://github.com/google-deepmind/dpsynth: an attribute with possible_values is categorical,
		// one with min_value and max_value numerical, one with default_value or public_possible_values
		// an open set of texts; max_tokens is free text
		name: "dpsynth", note: "imported from a dpsynth domain", yaml: true, more: dpsynthColumn,
		none:       "it has no columns",
		categories: "possible_values", min: "min_value", max: "max_value",
	},
	{
		name: "sdv", note: "imported from SDV metadata, which say neither bounds nor categories: fill " +
			"in what is open, or buy a schema with decoy schema infer", tables: "tables",
		columns: "columns", none: "it has no columns", kind: "sdtype", format: "datetime_format",
		more: sdvColumn,
	},
	{
		// https://specs.frictionlessdata.io/table-schema, alone or in the resources of a Data Package
		name: "frictionless", note: "imported from a Frictionless Table Schema", tables: "resources",
		table: "name", columns: "schema.fields fields", ids: "schema.primaryKey primaryKey",
		none: "it has no fields, or no schema of its own: is it a Table Schema or a Data Package?",
		kind: "type", column: "name", min: "constraints.minimum", max: "constraints.maximum",
		categories: "constraints.enum categories", required: "constraints.required", format: "format",
		more: frictionlessField,
	},
	{
		// https://www.w3.org/TR/tabular-metadata
		name: "csvw", note: "imported from CSVW metadata, which say no categories", tables: "tables",
		table: "url", columns: "tableSchema.columns", ids: "tableSchema.primaryKey",
		none:   "it has no tableSchema of its own, or no columns in it",
		column: "titles.* titles name", kind: "datatype.base datatype", lists: "separator",
		min:      "datatype.minimum datatype.minInclusive datatype.minExclusive",
		max:      "datatype.maximum datatype.maxInclusive datatype.maxExclusive",
		above:    "datatype.minExclusive",
		below:    "datatype.maxExclusive",
		required: "required", missing: "null", emptyIsMissing: true, format: "datatype.format",
		more: csvwColumn, noKind: schema.Categorical, inherits: "tableSchema",
	},
	{
		// https://docs.mlcommons.org/croissant: a record set is a table, unless its rows are in the file
		// itself; such are the enumerations that fields refer to
		name: "croissant", note: "imported from Croissant metadata, which say no bounds",
		tables: "recordSet", table: "name @id", inline: "data", columns: "field",
		none:   "it has no recordSet, or no field in it",
		column: "source.extract.column name @id", kind: "dataType", lists: "repeated isArray",
		format: "source.format", more: croissantField,
	},
	{
		// https://json-schema.org: of one row, an object with a property for each column, or of a list
		// of such rows
		name: "json-schema", note: "imported from a JSON Schema of one row", columns: "properties",
		row:  "items",
		none: "it has no properties: a row is an object with a property for each column",
		kind: "type", min: "exclusiveMinimum minimum", max: "exclusiveMaximum maximum",
		above: "exclusiveMinimum", below: "exclusiveMaximum", categories: "enum const",
		format: "format", more: rowProperty,
	},
}

// words are the kinds of all forms, in lower case, that a schema can have; others it cannot.
var words = func() map[string]described {
	out := map[string]described{}
	for _, x := range []struct {
		names    string
		kind     schema.Kind
		min, max string
	}{
		{"any anyatomictype", 0, "", ""},
		{"string normalizedstring token text enumeration categorical", schema.Categorical, "", ""},
		{"boolean", schema.Boolean, "", ""},
		{"number numerical decimal double float float16 float32 float64", schema.Real, "", ""},
		{"integer int long year gyear int32 int64", schema.Integer, "", ""},
		{"unsignedlong unsignedint nonnegativeinteger uint32 uint64", schema.Integer, "0", ""},
		{"positiveinteger", schema.Integer, "1", ""},
		{"nonpositiveinteger", schema.Integer, "", "0"},
		{"negativeinteger", schema.Integer, "", "-1"},
		{"byte int8", schema.Integer, "-128", "127"},
		{"unsignedbyte uint8", schema.Integer, "0", "255"},
		{"short int16", schema.Integer, "-32768", "32767"},
		{"unsignedshort uint16", schema.Integer, "0", "65535"},
		{"date", schema.Date, "", ""},
		{"datetime datetimestamp date-time", schema.Timestamp, "", ""},
	} {
		for name := range strings.FieldsSeq(x.names) {
			out[name] = described{Column: schema.Column{Kind: x.kind}, min: x.min, max: x.max}
		}
	}
	return out
}()

func mbiColumn(_ *reading, n *yaml.Node, x *described) error {
	size, err := strconv.Atoi(n.Value)
	if err != nil || size < 1 || size > 1<<16 {
		return invalid("column %q: its size must be a whole number from 1 to 65536", x.Name)
	}
	x.Kind, x.min, x.max, x.Bins = schema.Integer, "0", strconv.Itoa(size-1), size
	return nil
}

func dpsynthColumn(_ *reading, n *yaml.Node, x *described) error {
	public, _ := texts(n, "public_possible_values")
	unlisted := "<OOD>"
	if v := at(n, "default_value"); v != nil {
		unlisted = v.Value
	}
	switch {
	case n.Kind != yaml.MappingNode:
		return invalid("column %q is no attribute", x.Name)
	case at(n, "possible_values") != nil:
		x.Kind = schema.Categorical
		i, _ := strconv.Atoi(text(n, "out_of_domain_index")) // by default the first
		if i >= 0 && i < len(x.Categories) {
			x.OnInvalid, x.Other = schema.Other, x.Categories[i]
		}
	case at(n, "min_value") != nil && at(n, "max_value") != nil:
		x.Kind, x.OnInvalid = schema.Real, schema.Clamp
		if text(n, "dtype") == "int" {
			x.Kind = schema.Integer
		}
		if x.edges, _ = texts(n, "bin_edges"); len(x.edges) > 0 {
			x.note = "its bin_edges are its edges: values beyond them are clamped to them"
		}
		if text(n, "clip_to_range") == "false" {
			x.Missing = []string{""}
			x.note = "values out of range are clamped; only cells that are no numbers are missing"
		}
	case at(n, "max_tokens") != nil:
		x.leftOut = "free text"
	case len(public) > 0:
		x.Kind, x.OnInvalid, x.Other = schema.Categorical, schema.Other, unlisted
		x.Categories = append([]string{unlisted}, public...)
	case len(n.Content) == 0 || at(n, "default_value public_possible_values") != nil:
		x.Kind = schema.Categorical
	default:
		x.leftOut = "it has neither possible_values nor min_value and max_value"
	}
	return nil
}

// clock has the codes of a format that tell the time of day.
var clock = regexp.MustCompile("%[HIMSfTcX]")

func sdvColumn(_ *reading, n *yaml.Node, x *described) error {
	if n.Kind != yaml.MappingNode {
		return invalid("column %q has no sdtype", x.Name)
	}
	switch kind := text(n, "sdtype"); {
	case kind == "id":
		x.leftOut = isID
	case kind == "datetime" && !clock.MatchString(x.pattern):
		x.Kind = schema.Date
	case kind == "numerical":
		stored := text(n, "computer_representation")
		if small := words[strings.ToLower(stored)]; small.Kind == schema.Integer {
			x.Kind, x.min, x.max = small.Kind, small.min, small.max
		}
		if x.max != "" {
			x.note = fmt.Sprintf("bounds are those of %s: narrower ones need less noise", stored)
		}
	}
	return nil
}

// textFormat is what the format of a text makes of it.
func (x *described) textFormat() {
	if x.Kind == schema.Categorical && x.pattern != "" {
		if x.Kind = words[x.pattern].Kind; x.Kind == 0 {
			x.leftOut = noValue(x.pattern)
		}
		x.pattern = ""
	}
}

func frictionlessField(r *reading, n *yaml.Node, x *described) error {
	if text(n, "constraints.required") != "true" {
		x.Missing = []string{""}
		if at(r.table, "schema.missingValues missingValues") != nil {
			x.Missing, _ = texts(r.table, "schema.missingValues missingValues")
		}
	}
	if x.pattern == "any" || x.pattern == "default" {
		x.pattern = ""
	}
	x.textFormat()
	if text(n, "constraints.unique") == "true" {
		x.leftOut = isID
	}
	if char := text(n, "decimalChar"); char != "" && char != "." || text(n, "groupChar") != "" ||
		text(n, "bareNumber") == "false" {
		x.leftOut = decimalComma
	}
	if x.Kind == schema.Boolean {
		no, _ := texts(n, "falseValues")
		yes, _ := texts(n, "trueValues")
		x.Categories = nil
		if len(no) == 1 && len(yes) == 1 && no[0] != yes[0] {
			x.Categories = []string{no[0], yes[0]}
		} else if len(no)+len(yes) > 0 {
			x.note = "it has several texts for true or false: they are read as far as they are usual"
		}
	}
	return nil
}

func csvwColumn(_ *reading, n *yaml.Node, x *described) error {
	number := at(n, "datatype.format")
	switch char := text(number, "decimalChar"); {
	case text(n, "virtual") == "true":
		x.leftOut = "it is virtual"
	case text(n, "suppressOutput") == "true":
		x.note = "it is suppressed there, and kept here"
	case char != "" && char != "." || text(number, "groupChar") != "":
		x.leftOut = decimalComma
	case x.Kind == schema.Boolean && x.pattern != "":
		yes, no, ok := strings.Cut(x.pattern, "|")
		if !ok || yes == "" || no == "" || yes == no {
			return invalid("column %q: the format %s of a boolean is not true|false in two texts", x.Name,
				quoted(x.pattern))
		}
		x.Categories = []string{no, yes}
	}
	x.pattern = strings.ReplaceAll(x.pattern, "'", "") // around literal letters
	return nil
}

func croissantField(r *reading, n *yaml.Node, x *described) error {
	if text(n, "source.extract.column name") == "" {
		x.Name = shortID(x.Name)
	}
	if id := text(n, "@id"); id != "" && id == text(r.table, "key.@id") {
		x.leftOut = isID
	}
	for _, path := range []string{"references.@id", "references.field.@id"} {
		if listed := r.listed(text(n, path)); len(listed) > 0 {
			x.Categories = listed
		}
	}
	return nil
}

// listed are the values of a field, or of the first of a record set, whose rows are in the file.
func (r *reading) listed(id string) (out []string) {
	sets, _ := entriesOf(at(r.file, "recordSet"), "@id")
	for _, set := range sets {
		rows, _ := entriesOf(at(set.node, "data"), "")
		fields, _ := entriesOf(at(set.node, "field"), "@id")
		for i, f := range fields {
			if f.name != id && (i > 0 || set.name != id) || id == "" {
				continue
			}
			for _, row := range rows {
				for _, key := range []string{f.name, shortID(f.name), text(f.node, "name")} {
					v := member(row.node, key)
					if v != nil && v.Kind == yaml.ScalarNode && !slices.Contains(out, v.Value) {
						out = append(out, v.Value)
					}
				}
			}
		}
	}
	return out
}

// shortID is the end of an id, or of the name of a kind.
func shortID(id string) string { return id[strings.LastIndexAny(id, ":/#")+1:] }

func rowProperty(r *reading, n *yaml.Node, x *described) error {
	if n.Kind != yaml.MappingNode {
		return invalid("property %q is no object", x.Name)
	}
	required, _ := texts(r.table, "required")
	null := !slices.Contains(required, x.Name)
	for _, choices := range []*yaml.Node{at(n, "anyOf"), at(n, "oneOf")} { // one type, or null
		list, _ := entriesOf(choices, "type")
		rest := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.name == "null" })
		null = null || len(rest) < len(list)
		if len(rest) == 1 {
			one, err := r.resolve(x.Name, rest[0].node)
			if err != nil {
				return err
			}
			name, missing := x.Name, x.Missing
			*x = r.described(one)
			if x.Name = name; len(x.Missing) == 0 {
				x.Missing = missing
			}
		}
	}
	if null {
		x.Missing = []string{""}
	}
	if x.Kind == schema.Boolean {
		x.Categories = nil
	}
	x.textFormat()
	return nil
}

// mostReferences is how many a chain of references may have.
const mostReferences = 16

// resolve follows the references of a JSON Schema within the file.
func (r *reading) resolve(name string, n *yaml.Node) (*yaml.Node, error) {
	for range mostReferences {
		reference := text(n, "$ref")
		if reference == "" && n != nil {
			return n, nil
		}
		path, ok := strings.CutPrefix(reference, "#/")
		if n = r.file; !ok {
			break
		}
		for key := range strings.SplitSeq(path, "/") {
			n = member(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
		}
	}
	return nil, invalid("property %q is no object, or refers to none in the file", name)
}
