package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// forms are those that there are. Each reads what a file says of the columns of a table.
var forms = []struct {
	name, note string
	read       func(data []byte, table string) ([]said, error)
}{
	{"mbi", "imported from an mbi domain: each column holds the codes 0 to size-1", mbi},
	{"sdv", "imported from SDV metadata, which say neither bounds nor categories: fill in what is " +
		"open, or buy a schema with decoy schema infer", sdv},
	{"frictionless", "imported from a Frictionless Table Schema", frictionless},
}

// Reasons to leave a column out.
const (
	isID         = "an id. If one person has several rows, name it as unit, with max_rows_per_unit"
	decimalComma = "its numbers have decimal commas or grouped digits: write 1234.5 first"
)

// noValue is the reason for a kind that no schema has.
func noValue(kind string) string {
	return fmt.Sprintf("of the kind %q no synthetic value can be made", kind)
}

// parse reads a file, a JSON object.
func parse(data []byte, to any) error {
	if first := bytes.TrimLeft(data, " \t\r\n"); !json.Valid(data) || first[0] != '{' {
		return invalid("not a JSON object")
	}
	err := json.Unmarshal(data, to)
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &other):
		key := other.Field[strings.LastIndex(other.Field, ".")+1:]
		return invalid("%s cannot be a %s", strings.ToLower(key), other.Value)
	case err != nil:
		return invalid("%v", err)
	}
	return nil
}

// object is a JSON object in the order of its keys.
type object[T any] []member[T]

type member[T any] struct {
	key   string
	value T
}

// UnmarshalJSON reads an object.
func (o *object[T]) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return fmt.Errorf("%.30q is no object with a key for each name", data)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	_, err := in.Token()
	for err == nil && in.More() {
		var m member[T]
		t, _ := in.Token() // of valid JSON
		m.key = t.(string)
		if slices.ContainsFunc(*o, func(x member[T]) bool { return x.key == m.key }) {
			return fmt.Errorf("key %q is there twice", m.key)
		}
		err = in.Decode(&m.value)
		*o = append(*o, m)
	}
	return err
}

// text is a text, a number or a truth value as it is written, or the value of an object that says
// what it means, too.
type text string

// UnmarshalJSON reads a text.
func (x *text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(x))
	case '{':
		labelled := struct{ Value *text }{x}
		return json.Unmarshal(data, &labelled)
	case '[':
		return fmt.Errorf("%.30q is no single value", data)
	}
	*x = text(data)
	return nil
}

// texts are the values of a list of them.
func texts(list []text) (out []string) {
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}

// choose finds one of the tables that a file describes; its only one has no need of a name.
func choose(names []string, table string) (int, error) {
	switch at := slices.Index(names, table); {
	case len(names) == 0:
		return 0, invalid("it describes no table")
	case table == "" && len(names) == 1:
		return 0, nil
	case table == "":
		return 0, invalid("it describes %d tables (%s): name one", len(names), strings.Join(names, ", "))
	case at < 0:
		return 0, invalid("it has no table %q, but %s", table, strings.Join(names, ", "))
	default:
		return at, nil
	}
}

// alone refuses the name of a table for a file that describes one without a name.
func alone(table string) error {
	if table != "" {
		return invalid("it describes one table without a name, not %q", table)
	}
	return nil
}

// mbi reads {"age": 85, "sex": 2}: the number of codes of each column, whole numbers from 0.
func mbi(data []byte, table string) (out []said, err error) {
	var file object[text]
	if err := parse(data, &file); err != nil {
		return nil, err
	}
	for _, m := range file {
		size, err := strconv.Atoi(string(m.value))
		if err != nil || size < 1 || size > 1<<16 {
			return nil, invalid("column %q: its size must be a whole number from 1 to 65536", m.key)
		}
		out = append(out, said{name: m.key, kind: schema.Integer, bins: size, min: "0",
			max: strconv.Itoa(size - 1)})
	}
	if len(file) == 0 {
		return nil, invalid("it has no columns")
	}
	return out, alone(table)
}

// clock has the codes of a format that tell the time of day.
var clock = regexp.MustCompile("%[HIMSfTcX]")

// whole are the numbers that SDV stores in so many bits.
var whole = map[string]said{"int8": {min: "-128", max: "127"}, "uint8": {min: "0", max: "255"},
	"int16": {min: "-32768", max: "32767"}, "uint16": {min: "0", max: "65535"},
	"int32": {}, "int64": {}, "uint32": {min: "0"}, "uint64": {min: "0"}}

// sdv reads the metadata of one table, or of several.
func sdv(data []byte, table string) (out []said, err error) {
	type columns struct {
		Columns object[struct {
			SDType string `json:"sdtype"`
			Format string `json:"datetime_format"`
			Stored string `json:"computer_representation"`
		}]
	}
	var file struct {
		Tables *object[columns]
		columns
	}
	if err := parse(data, &file); err != nil {
		return nil, err
	}
	one := file.columns
	if file.Tables == nil {
		err = alone(table)
	} else {
		var names []string
		for _, m := range *file.Tables {
			names = append(names, m.key)
		}
		var at int
		if at, err = choose(names, table); err == nil {
			one = (*file.Tables)[at].value
		}
	}
	if err == nil && len(one.Columns) == 0 {
		err = invalid("it has no columns")
	}
	for _, m := range one.Columns {
		c := m.value
		x := said{pattern: c.Format}
		switch c.SDType {
		case "id":
			x.leftOut = isID
		case "boolean":
			x.kind = schema.Boolean
		case "categorical":
			x.kind = schema.Categorical
		case "datetime":
			if x.kind = schema.Date; clock.MatchString(c.Format) {
				x.kind = schema.Timestamp
			}
		case "numerical":
			small, is := whole[strings.ToLower(c.Stored)]
			if x.kind = schema.Real; is {
				x, x.kind = small, schema.Integer
			}
			if x.max != "" {
				x.note = fmt.Sprintf("bounds are those of %s: narrower ones need less noise", c.Stored)
			}
		default:
			x.leftOut = noValue(c.SDType)
		}
		x.name = m.key
		out = append(out, x)
	}
	return out, err
}

// tableSchema is https://specs.frictionlessdata.io/table-schema.
type tableSchema struct {
	Fields        []field
	MissingValues []text
	PrimaryKey    any // a name, or a list of them
}

type field struct {
	Name, Type, Format     string
	DecimalChar, GroupChar string
	BareNumber             text
	TrueValues             []text
	FalseValues            []text
	Categories             []text
	Constraints            struct {
		Required, Unique text
		Minimum, Maximum text
		Enum             []text
	}
}

// frictionless reads a Table Schema, alone or in the resources of a Data Package.
func frictionless(data []byte, table string) (out []said, err error) {
	var file struct {
		tableSchema
		Schema    json.RawMessage // of a resource alone
		Resources *[]struct {
			Name   string
			Schema json.RawMessage // or the name of a file
		}
	}
	if err := parse(data, &file); err != nil {
		return nil, err
	}
	inner := file.Schema
	if file.Resources == nil {
		err = alone(table)
	} else {
		var names []string
		for _, r := range *file.Resources {
			names = append(names, r.Name)
		}
		var at int
		if at, err = choose(names, table); err == nil {
			inner = (*file.Resources)[at].Schema
		}
	}
	if err != nil {
		return nil, err
	}
	s := file.tableSchema
	if len(inner) > 0 && inner[0] == '{' {
		err = parse(inner, &s)
	}
	if err == nil && len(s.Fields) == 0 {
		err = invalid("it has no fields, or no schema of its own: is it a Table Schema or a Data " +
			"Package?")
	}
	for _, f := range s.Fields {
		x := f.said()
		if f.Constraints.Required != "true" && s.MissingValues == nil {
			x.missing = []string{""}
		} else if f.Constraints.Required != "true" {
			x.missing = texts(s.MissingValues)
		}
		if key := fmt.Sprint(s.PrimaryKey); key == f.Name || key == "["+f.Name+"]" {
			x.leftOut = isID
		}
		out = append(out, x)
	}
	return out, err
}

// frictionlessKinds are the types of fields that a schema can have.
var frictionlessKinds = map[string]schema.Kind{"": 0, "any": 0, "string": schema.Categorical,
	"boolean": schema.Boolean, "number": schema.Real, "integer": schema.Integer,
	"year": schema.Integer, "date": schema.Date, "datetime": schema.Timestamp}

// said is what a field says but for its missing values.
func (f *field) said() said {
	kind, known := frictionlessKinds[f.Type]
	x := said{name: f.Name, kind: kind, min: string(f.Constraints.Minimum),
		max: string(f.Constraints.Maximum), pattern: f.Format}
	if x.categories = texts(f.Constraints.Enum); len(x.categories) == 0 {
		x.categories = texts(f.Categories)
	}
	if x.pattern == "any" || x.pattern == "default" {
		x.pattern = ""
	}
	switch {
	case !known:
		x.leftOut = noValue(f.Type)
	case f.Constraints.Unique == "true":
		x.leftOut = isID
	case f.DecimalChar != "" && f.DecimalChar != ".", f.GroupChar != "", f.BareNumber == "false":
		x.leftOut = decimalComma
	case kind == schema.Categorical && x.pattern != "":
		x.leftOut = noValue(x.pattern)
	case kind == schema.Boolean:
		x.categories = append(texts(f.FalseValues), texts(f.TrueValues)...)
		if len(f.FalseValues) != 1 || len(f.TrueValues) != 1 {
			x.categories = nil
			x.note = "its texts for true and false are read as far as they are usual"
		}
	}
	return x
}
