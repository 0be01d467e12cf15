package synth

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var write = flag.Bool("write", false, "write texts.json instead of comparing it")

func TestNew(t *testing.T) {
	for _, name := range append(Choices(), "") {
		f, err := New(name, nil)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if f.Name() != Named(name) || name != "" && name != Auto && f.Name() != name {
			t.Errorf("%q makes %s", name, f.Name())
		}
	}
	stattest.Wraps(t, stattest.Err(New("none", nil)), ErrConfig, "an unknown method")
	broken := errors.New("broken")
	if _, err := New("mst", func(any) error { return broken }); err != broken {
		t.Errorf("the error of decode is lost: %v", err)
	}
	_, err := New("mst", func(c any) error { c.(*MST).Iterations = -1; return nil })
	stattest.Wraps(t, err, ErrConfig, "the settings do not reach the method")
	if f, err := New("mst",
		func(c any) error { c.(*MST).Iterations = -1; return nil }); err == nil || f != nil {
		t.Errorf("a refused method is %v", f)
	}
}

// TestEveryFieldIsASetting keeps a setting from being out of reach of --set and config files.
func TestEveryFieldIsASetting(t *testing.T) {
	for _, m := range methods {
		c, name := reflect.TypeOf(m()).Elem(), m().Name()
		seen := map[string]bool{}
		for i := range c.NumField() {
			f := c.Field(i)
			key := f.Tag.Get("mapstructure")
			if f.IsExported() && (key == "" || key != strings.ToLower(key)) {
				t.Errorf("%s: field %s has the mapstructure tag %q, want snake_case",
					name, f.Name, key)
			}
			if seen[key] {
				t.Errorf("%s: two settings are called %q", name, key)
			}
			seen[key] = true
		}
		settings := stattest.Must(Settings(name))
		for _, s := range settings {
			if s.Text == "" {
				t.Errorf("%s: the setting %s has no comment", name, s.Key)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	settings := stattest.Must(Settings("mst"))
	got := settings[slices.IndexFunc(settings,
		func(s Setting) bool { return s.Key == "one_way_share" })]
	want := Setting{"one_way_share", "number", "0.5",
		"share of the budget (in ρ) for one-way marginals; default 0.5"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestTexts compares texts.json with the comments in the sources of the methods; with -args -write
// it writes the file.
func TestTexts(t *testing.T) {
	all := map[string]map[string]string{}
	for _, m := range methods {
		all[m().Name()] = commentsOf(t, ".", reflect.TypeOf(m()).Elem().Name())
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	stattest.Check(t, enc.Encode(all))
	if *write {
		stattest.Check(t, os.WriteFile("texts.json", want.Bytes(), 0o644))
	} else if textsJSON != want.String() {
		t.Error("texts.json differs from the comments in the sources: run go generate ./synth")
	}
}

// TestMethodsAreHeld: each has a claim page. The harnesses that kill and replay loop over the list.
func TestMethodsAreHeld(t *testing.T) {
	for _, name := range Names() {
		page := filepath.Join("..", "docs", "claims", name+".md")
		stattest.Passes(t, stattest.Err(os.Stat(page)), "method %s has no claim page", name)
	}
}

// commentsOf are the comments of the tagged fields of a struct, by key.
func commentsOf(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	out := map[string]string{}
	for _, path := range paths {
		f := stattest.Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				if field.Tag == nil {
					continue
				}
				key, _,
					_ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("mapstructure"), ",")
				text := strings.TrimSpace(field.Doc.Text() + field.Comment.Text())
				if key != "" && key != "-" {
					out[key] = strings.Join(strings.Fields(text), " ")
				}
			}
			return false
		})
	}
	return out
}
