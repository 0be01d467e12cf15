package synth

//go:generate go test . -run TestTexts -args -write

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// textsJSON holds the comments of the settings in the sources of the methods: method, key, text.
//
//go:embed texts.json
var textsJSON string

var texts = sync.OnceValue(func() (out map[string]map[string]string) {
	if err := json.Unmarshal([]byte(textsJSON), &out); err != nil {
		panic("synth: texts.json: " + err.Error())
	}
	return out
})

// Setting is one setting of a method, for help and for checking names.
type Setting struct {
	Key string `json:"key"` // as --set and config files name it
	// "number", "whole number", "text", or a list of them
	Type    string `json:"type"`
	Default string `json:"default"` // "" where the method does not say
	Text    string `json:"text"`    // a line or two
}

// field is a setting's field of the struct.
type field struct {
	key   string
	tag   reflect.StructTag
	value reflect.Value
}

// fields are those of a method's settings, given as a pointer to them. A field has the key of its
// mapstructure tag; one without a tag is no setting.
func fields(settings any) (out []field) {
	v := reflect.ValueOf(settings).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if key := tag.Get("mapstructure"); key != "" {
			out = append(out, field{key, tag, v.Field(i)})
		}
	}
	return out
}

// fill gives numbers their defaults where they are 0, and checks their ranges: the tags default,
// min and max of a field, which has no range without them.
func fill(settings any) error {
	for _, f := range fields(settings) {
		low, bounded := f.tag.Lookup("min")
		if !bounded {
			continue
		}
		lo, hi, def := numeral(low), numeral(f.tag.Get("max")), numeral(f.tag.Get("default"))
		float := reflect.TypeFor[float64]()
		if f.value.IsZero() {
			f.value.Set(reflect.ValueOf(def).Convert(f.value.Type()))
		}
		if x := f.value.Convert(float).Float(); !(x >= lo && x <= hi) {
			return fmt.Errorf("%s %v must be from %v to %v", f.key, x, lo, hi)
		}
	}
	return nil
}

// numeral reads the number of a tag; "" is 0.
func numeral(text string) float64 {
	x, err := strconv.ParseFloat("0"+text, 64)
	if err != nil {
		panic("synth: a tag of a setting: " + err.Error())
	}
	return x
}

// Settings lists the settings of a method.
func Settings(name string) ([]Setting, error) {
	m, err := unchecked(name)
	if err != nil {
		return nil, err
	}
	if m, err = Checked(m); err != nil {
		return nil, err
	}
	out := Keys(m)
	for i, f := range fields(m) {
		out[i].Text, out[i].Default = texts()[m.Name()][f.key], show(f.value)
	}
	return out, nil
}

// Keys lists the settings of a method, given as a pointer to them, without texts and defaults.
func Keys(settings any) (out []Setting) {
	for _, f := range fields(settings) {
		out = append(out, Setting{Key: f.key, Type: cmp.Or(typeNames[f.value.Type().String()], "text")})
	}
	return out
}

// typeNames are the types of settings that are no texts.
var typeNames = map[string]string{"float64": "number", "int": "whole number",
	"[]int": "list of whole number", "[]string": "list of text"}

// show is a value as a config file would hold it.
func show(v reflect.Value) string {
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(v.Interface())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = show(v.Index(i))
	}
	return strings.Join(parts, ",")
}
