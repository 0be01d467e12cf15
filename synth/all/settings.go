package all

//go:generate go test . -run TestTexts -args -write

import (
	_ "embed"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// textsJSON holds the comments of the settings in the sources of the methods: method, key, text.
//
//go:embed texts.json
var textsJSON string

var texts = sync.OnceValue(func() (out map[string]map[string]string) {
	if err := json.Unmarshal([]byte(textsJSON), &out); err != nil {
		panic("all: texts.json: " + err.Error())
	}
	return out
})

// Setting is one setting of a method, for help and for checking names.
type Setting struct {
	Key string `json:"key"` // as --set and config files name it
	// "number", "whole number", "true or false", "text", "duration", or a list of them
	Type    string `json:"type"`
	Default string `json:"default"` // "" where the method does not say
	Text    string `json:"text"`    // a line or two
}

// Settings lists the settings of a method in the order of its Config.
func Settings(name string) ([]Setting, error) {
	m, err := find(name)
	if err != nil {
		return nil, err
	}
	out := Keys(m.config())
	var filled reflect.Value
	if f, err := m.build(nil); err == nil {
		filled = configOf(f)
	}
	for i := range out {
		out[i].Text = texts()[m.name][out[i].Key]
		if filled.IsValid() {
			out[i].Default = show(filled.FieldByIndex(out[i].index(filled.Type())))
		}
	}
	return out, nil
}

// Keys lists the settings of a Config, given as a pointer to it, without texts and defaults. A
// field has the key of its mapstructure tag; one without a tag, or tagged "-", is no setting.
func Keys(config any) []Setting {
	t := reflect.TypeOf(config).Elem()
	var out []Setting
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("mapstructure"), ",")
		if key != "" && key != "-" {
			out = append(out, Setting{Key: key, Type: typeOf(t.Field(i).Type)})
		}
	}
	return out
}

// index is the field of the setting in a Config.
func (s Setting) index(t reflect.Type) []int {
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("mapstructure"), ","); key == s.Key {
			return []int{i}
		}
	}
	panic("all: no field " + s.Key)
}

// configOf is the Config of a fitter with its defaults filled in: what its method Config returns.
// Without one it is the zero Value.
func configOf(fitter any) reflect.Value {
	m := reflect.ValueOf(fitter).MethodByName("Config")
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 ||
		m.Type().Out(0).Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return m.Call(nil)[0]
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

func typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.PointerTo(t).Implements(textType):
		return "text"
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "list of " + typeOf(t.Elem())
	case reflect.Pointer:
		return typeOf(t.Elem())
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return "whole number"
	}
	return t.Kind().String()
}

// show is a value as a config file would hold it.
func show(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = show(v.Index(i))
		}
		return strings.Join(parts, ",")
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return show(v.Elem())
	}
	return fmt.Sprint(v.Interface())
}
