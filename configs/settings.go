package configs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/synth"
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = synth.ErrConfig

// Given is one setting of a method that somebody gave.
type Given struct {
	Key   string
	Value any // of a file: as YAML has it; else text
	// where it stands, as an error should name it: "--set", "DECOY_SETTINGS_STEPS", "job.yaml, line 7"
	From string
}

// Settings are the settings of a method. A later one wins over an earlier one of the same key.
type Settings []Given

// MarshalJSON makes an object of them, in which the origins are lost.
func (s Settings) MarshalJSON() ([]byte, error) {
	values := map[string]any{}
	for _, g := range s {
		values[g.Key] = g.Value
	}
	return json.Marshal(values)
}

// FromYAML takes the settings of a file. They come from "line N", to be put after its name.
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
		return Given{}, fmt.Errorf("%s %q must be key=value: %w", from, text, ErrConfig)
	}
	return Given{Key: key, Value: strings.TrimSpace(value), From: from}, nil
}

// moved says where settings of earlier versions are now.
var moved = map[string]string{
	"constraints": "they are in the schema now, and every method keeps them: \"if sex = male then " +
		"pregnant = no\" is, under rules, {when: {sex: male}, then: {pregnant: no}}; \"admitted <= " +
		"discharged\" is, in the column discharged, after: admitted (decoy help schema)",
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
			i := slices.Index(names, g.Key)
			if i < 0 && moved[g.Key] != "" {
				errs = append(errs, fmt.Errorf("%s: %s: %s: %w", g.From, g.Key, moved[g.Key], ErrConfig))
				continue
			}
			if i < 0 {
				errs = append(errs, fmt.Errorf("%s: method %s has no setting %q%s: %w", g.From, method,
					g.Key, hint(method, g.Key, names), ErrConfig))
				continue
			}
			if err := decodeOne(config, g); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %s is not a %s%s: %w", g.From, g.Key, quote(g.Value),
					known[i].Type, reason(err), ErrConfig))
			}
		}
		return errors.Join(errs...)
	}
}

// decodeOne sets one field.
func decodeOne(config any, g Given) error {
	_, text := g.Value.(string)
	if g.Value == nil {
		return errors.New("no value")
	}
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		// the command line and the environment have text only
		Result: config, ErrorUnused: true, WeaklyTypedInput: text,
		DecodeHook: mapstructure.ComposeDecodeHookFunc(refuse, alone,
			mapstructure.StringToTimeDurationHookFunc(), mapstructure.TextUnmarshallerHookFunc(),
			mapstructure.StringToWeakSliceHookFunc(",")),
	})
	if err != nil {
		return err
	}
	return d.Decode(map[string]any{g.Key: g.Value})
}

// alone makes one number a list of one: what may be a list is most often one.
func alone(from, to reflect.Type, value any) (any, error) {
	if to.Kind() == reflect.Slice && from.Kind() >= reflect.Int && from.Kind() <= reflect.Float64 {
		return []any{value}, nil
	}
	return value, nil
}

// refuse keeps mapstructure from turning one kind of value quietly into another: an empty text into
// a zero, a fraction into an integer, a number into nanoseconds.
func refuse(from, to reflect.Type, value any) (any, error) {
	whole := to.Kind() >= reflect.Int && to.Kind() <= reflect.Uint64 &&
		to != reflect.TypeFor[time.Duration]()
	if to == reflect.TypeFor[time.Duration]() && from.Kind() != reflect.String {
		return nil, fmt.Errorf("it needs a unit, as in 90s or 10m: %w", ErrConfig)
	}
	switch x := value.(type) {
	case string:
		if x == "" && (whole || to.Kind() == reflect.Float64 || to.Kind() == reflect.Bool) {
			return nil, errors.New("no value")
		}
		if (whole || to.Kind() == reflect.Float64) && !yamlfile.Decimal(x) {
			return nil, errors.New("not a decimal number")
		}
	case float64:
		if whole && x != float64(int64(x)) {
			return nil, errors.New("not whole")
		}
	}
	return value, nil
}

// reason is what the setting's own type says against a text; what the decoder says is a
// programmer's.
func reason(err error) string {
	if at := (*mapstructure.DecodeError)(nil); errors.As(err, &at) &&
		errors.Is(at.Unwrap(), ErrConfig) {
		return " (" + strings.TrimSuffix(at.Unwrap().Error(), ": "+ErrConfig.Error()) + ")"
	}
	return ""
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

// deleted says what to write for a key of earlier versions.
var deleted = map[string]string{
	"strict": "private tables are read leniently, always, and every run that is reserved stays " +
		"charged: leave the key out",
}

// hint says what took the place of a deleted key, or names the nearest of the names, or all of them
// where none is near.
func hint(method, key string, names []string) string {
	if why := cmp.Or(deleted[key], synth.Gone(method, key)); why != "" {
		return "; " + why
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == key })
	if near := spelling.Hint(key, names); near != "" {
		return near
	}
	if len(names) == 0 {
		return "; it has none"
	}
	return "; there is " + strings.Join(names, ", ")
}
