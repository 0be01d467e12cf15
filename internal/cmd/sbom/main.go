// Command sbom writes the software bill of materials of a Go program: the modules that its linker
// recorded in it, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). The same program gives
// the same bytes.
//
//	go run ./internal/cmd/sbom PROGRAM OUT.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM OUT")
		os.Exit(2)
	}
	text, err := describe(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], append(text, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// describe is the bill of the program at path.
func describe(path string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	module := func(kind, path, version, sum string) component {
		purl := "pkg:golang/" + path + "@" + version
		c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
		if sum != "" { // of go.sum, over all files of the module
			c.Properties = []property{{"go:sum", sum}}
		}
		return c
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{module("application", info.Main.Path, info.Main.Version, "")}}
	b.Components = append(b.Components, module("library", "std", info.GoVersion, ""))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, module("library", m.Path, m.Version, m.Sum))
	}
	return json.MarshalIndent(b, "", "  ")
}
