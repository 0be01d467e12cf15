package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// folder is what the page may see of the machine. All names are relative to it, with slashes;
// os.Root refuses those that lead out of it, by dots or by links.
type folder struct {
	root *os.Root
	dir  string
}

// kind is what a file may be called in a message, and how its name ends.
type kind struct {
	name    string
	endings []string
}

// The files that the steps are about.
var (
	tables       = kind{"table", []string{".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow"}}
	outputs      = kind{"synthetic table", []string{".csv", ".parquet", ".arrow"}}
	schemas      = kind{"schema", []string{".yaml", ".yml"}}
	models       = kind{"model", []string{".decoy"}}
	descriptions = kind{"description", []string{".json", ".jsonld", ".yaml", ".yml"}}
	ledgers      = kind{"ledger", []string{".ledger"}}
	reports      = kind{"report", []string{".html"}}
)

func (k kind) has(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(k.endings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// problem is an error whose text is for the person at the page.
type problem string

func (p problem) Error() string { return string(p) }

func problemf(format string, args ...any) error { return problem(fmt.Sprintf(format, args...)) }

// have checks the name of a file that a step reads: it is in the folder and can be opened. The
// name may go to a command line: it never looks like a flag.
func (f *folder) have(k kind, name string) error {
	if err := f.place(k, name); err != nil {
		return err
	}
	switch _, err := f.root.Lstat(name); {
	case err != nil:
		return problemf("%s: there is no file %s in this folder", k.name, name)
	case f.linked(name):
		return problemf("%s: %s, or its ledger, is a link: serve the folder where it lies", k.name, name)
	}
	opened, err := f.open(name)
	if err != nil {
		return problemf("%s: %s is not a file, or cannot be opened", k.name, name)
	}
	return opened.Close()
}

// open opens a regular file. To open a pipe would wait for somebody who writes into it.
func (f *folder) open(name string) (*os.File, error) {
	if info, err := f.root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errMissing
	}
	return f.root.Open(name)
}

// linked reports whether a file or its ledger is a link: its account would be elsewhere.
func (f *folder) linked(name string) bool {
	return slices.ContainsFunc([]string{name, name + ".ledger"}, func(n string) bool {
		info, err := f.root.Lstat(n)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	})
}

// place checks the name of a file that a step writes.
func (f *folder) place(k kind, name string) error {
	switch {
	case name == "":
		return problemf("%s: choose a file", k.name)
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00\n\r"):
		return problemf("%s: the name must be of a file below the folder that is served", k.name)
	case strings.HasPrefix(name, "-"):
		return problemf("%s: the name must not begin with a dash", k.name)
	case !k.has(name):
		return problemf("%s: the name must end in %s", k.name, strings.Join(k.endings, ", "))
	}
	if info, err := f.root.Stat(path.Dir(name)); err != nil || !info.IsDir() {
		return problemf("%s: there is no folder %s", k.name, path.Dir(name))
	}
	return nil
}

// fresh is place for a file that must not be there yet.
func (f *folder) fresh(k kind, name string) error {
	if err := f.place(k, name); err != nil {
		return err
	}
	if _, err := f.root.Lstat(name); err == nil {
		return problemf("%s: %s is there already: choose another name", k.name, name)
	}
	return nil
}

// free is a name like base+ending that is not taken.
func (f *folder) free(base, ending string) string {
	name := base + ending
	for n := 2; ; n++ {
		if _, err := f.root.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
}

// entry is a file of the folder.
type entry struct {
	Name string
	Size int64
}

const mostFiles = 500

// files lists the files of a kind, in the folder and the folders in it.
func (f *folder) files(k kind) (out []entry, more bool) {
	fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		hidden := name != "." && strings.HasPrefix(e.Name(), ".")
		switch {
		case e.IsDir() && (hidden || strings.Contains(name, "/")):
			return fs.SkipDir
		case hidden || !e.Type().IsRegular() || f.place(k, name) != nil:
			return nil
		case len(out) == mostFiles:
			more = true
			return fs.SkipAll
		}
		info, err := e.Info()
		if err == nil {
			out = append(out, entry{name, info.Size()})
		}
		return nil
	})
	return out, more
}

// stem is a file's name without its ending.
func stem(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.TrimSuffix(name, path.Ext(name))
}
