package configs

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// TestSchemas: every property says what it is, unknown keys are refused at every level, and
// settings depend on the method.
func TestSchemas(t *testing.T) {
	for name, make := range map[string]func() ([]byte, error){"job": JobSchema, "batch": BatchSchema} {
		text, err := make()
		check(t, err)
		var s any
		check(t, json.Unmarshal(text, &s))
		objects := 0
		var walk func(path string, v any)
		walk = func(path string, v any) {
			switch v := v.(type) {
			case map[string]any:
				if properties, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
					objects++
					if v["additionalProperties"] != false {
						t.Errorf("%s%s takes unknown keys", name, path)
					}
					for key, p := range properties {
						if p.(map[string]any)["description"] == nil && path != "/tables" && key != "epsilon" &&
							key != "delta" && key != "method" && key != "settings" &&
							key != "schema" {
							t.Errorf("%s%s/%s has no description", name, path, key)
						}
					}
				}
				for key, x := range v {
					walk(path+"/"+key, x)
				}
			case []any:
				for i, x := range v {
					walk(fmt.Sprint(path, "/", i), x)
				}
			}
		}
		walk("", s)
		if objects < 3 {
			t.Errorf("%s: only %d objects", name, objects)
		}
	}
	text, err := JobSchema()
	check(t, err)
	var s struct {
		Properties map[string]any
		AllOf      []struct {
			If struct {
				Properties struct{ Method struct{ Const string } }
			}
			Then struct {
				Properties struct {
					Settings struct{ Properties map[string]any }
				}
			}
		}
	}
	check(t, json.Unmarshal(text, &s))
	i := slices.IndexFunc(s.AllOf, func(r struct {
		If struct {
			Properties struct{ Method struct{ Const string } }
		}
		Then struct {
			Properties struct {
				Settings struct{ Properties map[string]any }
			}
		}
	}) bool {
		return r.If.Properties.Method.Const == "mst"
	})
	if i < 0 || s.AllOf[i].Then.Properties.Settings.Properties["group_sigmas"] == nil ||
		s.Properties["evaluate"] != nil || s.Properties["input"] == nil {
		t.Errorf("the schema of a job is\n%s", text)
	}
}
