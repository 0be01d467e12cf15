package serve

import (
	"errors"
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

// Endings of the files that the steps are about.
var (
	tableEndings  = []string{".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow"}
	outputEndings = []string{".csv", ".parquet", ".arrow"}
	schemaEndings = []string{".yaml", ".yml"}
	modelEndings  = []string{".decoy"}
	importEndings = []string{".json", ".jsonld", ".yaml", ".yml"}
)

func endsIn(name string, endings []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// problem is an error whose text is for the person at the page.
type problem struct {
	text string
}

func (p problem) Error() string { return p.text }

func problemf(format string, args ...any) error { return problem{fmt.Sprintf(format, args...)} }

// have checks the name of a file that a step reads: it is in the folder and can be opened. The
// name may go to a command line: it never looks like a flag.
func (f *folder) have(what, name string, endings []string) error {
	if err := f.place(what, name, endings); err != nil {
		return err
	}
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problemf("%s: there is no file %s in this folder", what, name)
	case err != nil:
		return problemf("%s: %s is not a file in this folder", what, name)
	case f.linked(name):
		return problemf("%s: %s, or its ledger, is a link: serve the folder where it lies", what, name)
	case !info.Mode().IsRegular():
		return problemf("%s: %s is not a file", what, name)
	}
	opened, err := f.open(name)
	if err != nil {
		return problemf("%s: %s cannot be opened", what, name)
	}
	return opened.Close()
}

// open opens a regular file. To open a pipe would wait for somebody who writes into it.
func (f *folder) open(name string) (*os.File, error) {
	info, err := f.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errMissing
	}
	if err != nil {
		return nil, err
	}
	return f.root.Open(name)
}

// linked reports whether a file or its ledger is a link: its account would be elsewhere.
func (f *folder) linked(name string) bool {
	for _, n := range []string{name, name + ".ledger"} {
		if info, err := f.root.Lstat(n); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// place checks the name of a file that a step writes.
func (f *folder) place(what, name string, endings []string) error {
	switch {
	case name == "":
		return problemf("%s: choose a file", what)
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00\n\r"):
		return problemf("%s: the name must be of a file below the folder that is served", what)
	case strings.HasPrefix(name, "-"):
		return problemf("%s: the name must not begin with a dash", what)
	case !endsIn(name, endings):
		return problemf("%s: the name must end in %s", what, strings.Join(endings, ", "))
	}
	if dir := path.Dir(name); dir != "." {
		if info, err := f.root.Stat(dir); err != nil || !info.IsDir() {
			return problemf("%s: there is no folder %s", what, dir)
		}
	}
	return nil
}

// fresh is place for a file that must not be there yet.
func (f *folder) fresh(what, name string, endings []string) error {
	if err := f.place(what, name, endings); err != nil {
		return err
	}
	if _, err := f.root.Lstat(name); err == nil {
		return problemf("%s: %s is there already: choose another name", what, name)
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

// files lists the files with some endings, in the folder and the folders in it.
func (f *folder) files(endings []string) (out []entry, more bool) {
	walk := func(dir string, below bool) {}
	walk = func(dir string, below bool) {
		entries, err := fs.ReadDir(f.root.FS(), dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), "."):
			case e.IsDir() && !below:
				walk(name, true)
			case endsIn(name, endings) && f.place("", name, endings) == nil:
				info, err := f.root.Lstat(name)
				if err != nil || !info.Mode().IsRegular() {
					continue
				}
				if len(out) == mostFiles {
					more = true
					return
				}
				out = append(out, entry{name, info.Size()})
			}
		}
	}
	walk(".", false)
	return out, more
}

// stem is a file's name without the endings of tables.
func stem(name string) string {
	for _, e := range []string{".csv.gz", ".csv.zst"} {
		if len(name) > len(e) && strings.HasSuffix(strings.ToLower(name), e) {
			return name[:len(name)-len(e)]
		}
	}
	return strings.TrimSuffix(name, path.Ext(name))
}
