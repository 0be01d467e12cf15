package configs

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/synth/all"
)

//go:generate go test . -run TestTexts -args -write

// textsJSON holds the comments of the fields in the sources: Struct.Field.
//
//go:embed texts.json
var textsJSON []byte

var texts = sync.OnceValue(func() (out map[string]string) {
	if err := json.Unmarshal(textsJSON, &out); err != nil {
		panic("configs: texts.json: " + err.Error())
	}
	return out
})

// object is a JSON object.
type object = map[string]any

// JobSchema is the JSON Schema (draft 2020-12) of a job as a config file of decoy generate.
func JobSchema() ([]byte, error) {
	s := structSchema(reflect.TypeFor[Job]())
	properties := s["properties"].(object)
	delete(properties, "name") // of a batch
	delete(properties, "evaluate")
	return finish(s, "a job of decoy")
}

// BatchSchema is the JSON Schema of a batch file.
func BatchSchema() ([]byte, error) {
	s := structSchema(reflect.TypeFor[Batch]())
	s["required"] = []string{"name"}
	s["properties"].(object)["on_interrupted"].(object)["enum"] = []string{"stop", "rerun"}
	return finish(s, "a batch of decoy")
}

func finish(s object, title string) ([]byte, error) {
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", title
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// structSchema describes a struct by its tags; where it has a method and settings, the settings
// depend on the method.
func structSchema(t reflect.Type) object {
	properties := object{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		p := typeSchema(f.Type)
		if text := texts()[t.Name()+"."+f.Name]; text != "" {
			p["description"] = text
		}
		switch key := f.Tag.Get("yaml"); key {
		case "method":
			p["enum"] = all.Choices()
		case "adjacency":
			p["enum"] = []string{accountant.AddRemove.String(), accountant.ReplaceOne.String()}
		case "rule":
			p["enum"] = []string{string(ledger.RuleBasic), string(ledger.RuleZCDP)}
		case "epsilon":
			p["exclusiveMinimum"] = 0
			if t == reflect.TypeFor[Job]() {
				p["minimum"], p["maximum"] = minEpsilon, maxEpsilon
			}
		case "delta":
			p["minimum"], p["maximum"] = 0, accountant.MaxDelta
		}
		properties[f.Tag.Get("yaml")] = p
	}
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if properties["settings"] == nil || properties["method"] == nil {
		return s
	}
	var rules []any
	for _, name := range all.Choices() {
		condition := object{"properties": object{"method": object{"const": name}}}
		if name != all.Auto {
			condition["required"] = []string{"method"}
		}
		rules = append(rules, object{"if": condition,
			"then": object{"properties": object{"settings": settingsSchema(name)}}})
	}
	s["allOf"] = rules
	return s
}

// settingsSchema describes the settings of a method.
func settingsSchema(method string) object {
	settings, err := all.Settings(method)
	if err != nil {
		panic("configs: " + err.Error()) // of all.Names
	}
	properties := object{}
	for _, s := range settings {
		p := object{"description": s.Text}
		switch name, list := strings.CutPrefix(s.Type, "list of "); {
		case list:
			p["type"] = []string{"array", "string"}
			if strings.Contains(name, "number") {
				p["type"] = []string{"array", "number", "string"} // one alone is a list of one
			}
		case name == "number":
			p["type"] = "number"
		case name == "whole number":
			p["type"] = "integer"
		case name == "true or false":
			p["type"] = "boolean"
		case slices.Contains([]string{"text", "duration"}, name):
			p["type"] = "string"
		}
		properties[s.Key] = p
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func typeSchema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice:
		if t == reflect.TypeFor[Settings]() {
			return object{"type": "object"}
		}
		return object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Struct:
		s := structSchema(t)
		if t == reflect.TypeFor[Method]() {
			return object{"oneOf": []any{object{"type": "string", "enum": all.Choices()}, s}}
		}
		return s
	}
	panic("configs: no JSON Schema for " + t.String())
}
