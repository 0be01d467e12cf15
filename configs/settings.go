package configs

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/synth"
)

// invalid is a [synth.ErrConfig] with a text.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, synth.ErrConfig)...)
}

// Given is one setting of a method that somebody gave.
type Given struct {
	Key   string
	Value any // of a file: as YAML has it; else text
	// where it stands, as an error should name it: "--set", "DECOY_SETTINGS_STEPS", "job.yaml, line 7"
	From string
}

// Settings are the settings of a method. A later one wins over an earlier one of the same key.
type Settings []Given

// MarshalJSON makes an object of them, in which the origins are lost and values are as on a command
// line.
func (s Settings) MarshalJSON() ([]byte, error) {
	values := map[string]string{}
	for _, g := range s {
		list, ok := g.Value.([]any)
		if !ok {
			list = []any{g.Value}
		}
		var parts []string
		for _, one := range list {
			if x, ok := one.(float64); ok && math.IsInf(x, 0) || x != x {
				return nil, invalid("%s: %v is no number", g.Key, x)
			}
			parts = append(parts, fmt.Sprint(one))
		}
		values[g.Key] = strings.Join(parts, ",")
	}
	return json.Marshal(values)
}

// In are settings of a file, named before their lines.
func (s Settings) In(file string) Settings {
	s = slices.Clone(s)
	for i := range s {
		s[i].From = file + ", " + s[i].From
	}
	return s
}

// FromYAML takes the settings of a file. They come from "line N": see In.
func (s *Settings) FromYAML(r yamlfile.Reader, n *yaml.Node, key string) {
	r.Pairs(n, key, func(k, v *yaml.Node) {
		value, err := yamlfile.Any(v)
		if err != nil {
			r.Report(k.Line, fmt.Sprintf("%s.%s %v", key, k.Value, err))
		}
		*s = append(*s, Given{k.Value, value, fmt.Sprintf("line %d", k.Line)})
	})
}

// ParseSet splits key=value.
func ParseSet(text, from string) (Given, error) {
	key, value, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Given{}, invalid("%s %q must be key=value", from, text)
	}
	return Given{Key: key, Value: strings.TrimSpace(value), From: from}, nil
}

// Decoder gives a method its settings, for [synth.New]. Later settings win over earlier ones of the
// same key. It is strict: a key that the method does not have is an error that names the nearest
// one it has, and a value must be of the key's type.
func Decoder(method string, given Settings) func(config any) error {
	return func(config any) error {
		known := synth.Keys(config)
		var names []string
		for _, k := range known {
			names = append(names, k.Key)
		}
		var errs []error
		for _, g := range given {
			var err error
			v := reflect.ValueOf(config).Elem()
			field := v.FieldByNameFunc(func(name string) bool {
				f, _ := v.Type().FieldByName(name)
				return f.Tag.Get("mapstructure") == g.Key
			})
			if i := slices.Index(names, g.Key); i < 0 {
				err = invalid("%s: method %s has no setting %q%s", g.From, method, g.Key,
					hint(g.Key, names))
			} else if !set(field, g.Value) {
				err = invalid("%s: %s: %s is not a %s", g.From, g.Key, quote(g.Value), known[i].Type)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// set gives a setting its value, if that is of its kind: a text, as the command line has it, or
// what YAML has. One value may stand for a list of one.
func set(field reflect.Value, value any) bool {
	text, isText := value.(string)
	number := fmt.Sprint(value)
	x, err := strconv.ParseFloat(number, 64)
	isNumber := err == nil && yamlfile.Decimal(number)
	switch {
	case field.Kind() == reflect.Slice:
		list, isList := value.([]any)
		if isText {
			for part := range strings.SplitSeq(text, ",") {
				list = append(list, part)
			}
		} else if !isList {
			list = []any{value}
		}
		field.Set(reflect.MakeSlice(field.Type(), len(list), len(list)))
		for i, one := range list {
			if !set(field.Index(i), one) {
				return false
			}
		}
	case field.Kind() == reflect.String && isText:
		field.SetString(text)
	case field.CanInt() && isNumber && x == float64(int64(x)):
		field.SetInt(int64(x))
	case field.CanFloat() && isNumber:
		field.SetFloat(x)
	default:
		return false
	}
	return true
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

// hint names the nearest of the names, or all of them where none is near.
func hint(key string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == key })
	if near := spelling.Hint(key, names); near != "" {
		return near
	}
	if len(names) == 0 {
		return "; it has none"
	}
	return "; there is " + strings.Join(names, ", ")
}
