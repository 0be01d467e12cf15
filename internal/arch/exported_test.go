package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// outside gives an empty package for each that is not of this module: what their names mean does
// not matter for who uses ours.
type outside struct {
	root  string
	files *token.FileSet
	known map[string]*types.Package
	uses  map[types.Object]map[string]bool // the folders that use an object
}

// Import type-checks a package of this module, once, without its tests.
func (o *outside) Import(path string) (*types.Package, error) {
	if p := o.known[path]; p != nil {
		return p, nil
	}
	rel, inside := strings.CutPrefix(path, module+"/")
	if !inside {
		p := types.NewPackage(path, filepath.Base(path))
		p.MarkComplete()
		o.known[path] = p
		return p, nil
	}
	p := o.check(rel, path, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	o.known[path] = p
	return p, nil
}

// check type-checks some files of a folder as one package, and notes what they use. Errors, which
// come of the empty packages, are passed over.
func (o *outside) check(rel, path string, want func(name string) bool) *types.Package {
	entries, _ := os.ReadDir(filepath.Join(o.root, rel))
	parsed := map[string][]*ast.File{} // by package: a folder has tests of two
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || !want(e.Name()) {
			continue
		}
		f, err := parser.ParseFile(o.files, filepath.Join(o.root, rel, e.Name()), nil,
			parser.SkipObjectResolution)
		if err == nil {
			parsed[f.Name.Name] = append(parsed[f.Name.Name], f)
		}
	}
	info := &types.Info{
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: o, Error: func(error) {}, FakeImportC: true}
	var p *types.Package
	for _, files := range parsed {
		p, _ = config.Check(path, o.files, files, info)
	}
	for _, object := range info.Uses {
		note(o.uses, origin(object), rel)
	}
	return p
}

func note(uses map[types.Object]map[string]bool, object types.Object, user string) {
	if uses[object] == nil {
		uses[object] = map[string]bool{}
	}
	uses[object][user] = true
}

// origin is the declaration of an object that a generic type was instantiated for.
func origin(object types.Object) types.Object {
	switch object := object.(type) {
	case *types.Func:
		return object.Origin()
	case *types.Var:
		return object.Origin()
	}
	return object
}

// exported is an exported name of a package.
type exported struct {
	pkg, name string   // name as package.Type.Method
	programs  int      // other packages that use it, without tests and examples
	abstract  []string // methods, if it is an interface
	asks      string   // the types of its parameters, if it is a function
}

// exportedNames lists the functions, types, variables, constants and methods that packages export,
// without those of internal/arch's tools and of programs.
func exportedNames(t *testing.T) []exported {
	t.Helper()
	root := stattest.Must(filepath.Abs("../.."))
	o := &outside{
		root: root, files: token.NewFileSet(), known: map[string]*types.Package{},
		uses: map[types.Object]map[string]bool{},
	}
	var folders []string
	stattest.Check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if found, _ := filepath.Glob(filepath.Join(path, "*.go")); len(found) > 0 {
			rel, _ := filepath.Rel(root, path)
			folders = append(folders, filepath.ToSlash(rel))
		}
		return nil
	}))
	for _, rel := range folders {
		o.Import(module + "/" + rel)
	}
	programs := map[types.Object]int{}
	for object, users := range o.uses {
		programs[object] = len(users)
		if object.Pkg() != nil && users[strings.TrimPrefix(object.Pkg().Path(), module+"/")] {
			programs[object]-- // its own package
		}
	}
	var out []exported
	for _, rel := range folders {
		p := o.known[module+"/"+rel]
		if p == nil || p.Name() == "main" || len(p.Scope().Names()) == 0 {
			continue
		}
		add := func(object types.Object, name string) {
			e := exported{pkg: rel, name: name, programs: programs[object]}
			if i, ok := object.Type().Underlying().(*types.Interface); ok {
				for k := range i.NumMethods() {
					e.abstract = append(e.abstract, i.Method(k).Name())
				}
			}
			if f, ok := object.(*types.Func); ok {
				e.asks = f.Signature().Params().String()
			}
			out = append(out, e)
		}
		for _, name := range p.Scope().Names() {
			object := p.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			add(object, p.Name()+"."+name)
			named, ok := object.Type().(*types.Named)
			if _, isType := object.(*types.TypeName); !ok || !isType {
				continue
			}
			for i := range named.NumMethods() {
				if m := named.Method(i); m.Exported() {
					add(m, p.Name()+"."+name+"."+m.Name())
				}
			}
		}
	}
	return out
}

// doors are functions that only packages of this module can call, on purpose: what they ask for
// leads to private rows, or is how this module reads its own files.
var doors = []string{
	"privacy.FromEngine", "privacy.FromLoader", "text.FromEngine", "configs.Job.FromYAML",
	"configs.Settings.FromYAML", "driver.Count",
}

// TestCallersNeedNothingInternal holds that a program outside this module can make whatever an
// exported function asks for.
func TestCallersNeedNothingInternal(t *testing.T) {
	n := 0
	for _, e := range exportedNames(t) {
		if strings.Contains("/"+e.pkg+"/", "/internal/") {
			continue
		}
		n++
		if strings.Contains(e.asks, "/internal/") && !slices.Contains(doors, e.name) {
			t.Errorf("%s asks for an internal type: %s", e.name, e.asks)
		}
	}
	if n < 300 {
		t.Errorf("only %d names: the search is broken", n)
	}
}

// called are methods that packages outside this module call, or reflection.
var called = []string{
	"String", "GoString", "Format", "Error", "Unwrap", "Is", "MarshalText", "UnmarshalText",
	"MarshalJSON", "UnmarshalJSON", "MarshalYAML", "UnmarshalYAML", "MarshalBinary", "Read", "Write",
	"Close", "Len",
	"Config", // of methods: synth/all finds it by reflection
}
