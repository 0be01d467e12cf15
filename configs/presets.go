package configs

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// Preset is a set of defaults for a kind of table. Whatever else is given wins over it.
type Preset struct {
	About    string                    `yaml:"about"`
	Method   string                    `yaml:"method"`   // "" leaves the default
	Delta    float64                   `yaml:"delta"`    // 0 leaves the default
	Settings map[string]map[string]any `yaml:"settings"` // method, key, value
}

// Presets lists the names.
func Presets() []string {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic("configs: " + err.Error()) // embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Index(presetOrder, a) - slices.Index(presetOrder, b)
	})
	return names
}

var presetOrder = []string{"small", "medium", "large", "medical", "fraud"}

// PresetYAML is the text of a preset, with the reasons in its comments.
func PresetYAML(name string) ([]byte, error) {
	b, err := presetFiles.ReadFile(path.Join("presets", name+".yaml"))
	if err != nil || !slices.Contains(presetOrder, name) {
		return nil, fmt.Errorf("there is no preset %q%s: %w", name, hint(name, Presets()), ErrConfig)
	}
	return b, nil
}

// PresetOf reads a preset.
func PresetOf(name string) (Preset, error) {
	var p Preset
	b, err := PresetYAML(name)
	if err != nil {
		return p, err
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("preset %s: %w", name, err)
	}
	return p, nil
}

// Given are the settings that the preset has for a method, with name as their origin.
func (p Preset) Given(name, method string) []Given {
	var out []Given
	for key, value := range p.Settings[method] {
		out = append(out, Given{Key: key, Value: value, From: "preset " + name})
	}
	slices.SortFunc(out, func(a, b Given) int { return strings.Compare(a.Key, b.Key) })
	return out
}
