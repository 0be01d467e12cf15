package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/configs"
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
	tables  = kind{"table", configs.Endings(false)}
	outputs = kind{"synthetic table", configs.Endings(true)}
	schemas = kind{"schema", []string{".yaml", ".yml"}}
	models  = kind{"model", []string{".decoy"}}
	ledgers = kind{"ledger", []string{".ledger"}}
	reports = kind{"report", []string{".html"}}
)

// problem is an error whose text is for the person at the page.
type problem string

func (p problem) Error() string { return string(p) }

func problemf(format string, args ...any) error { return problem(fmt.Sprintf(format, args...)) }

// place checks the name of a file that a step reads or writes. It may go to a command line: it
// never looks like a flag.
func (f *folder) place(k kind, name string) error {
	ends := func(ending string) bool { return strings.HasSuffix(strings.ToLower(name), ending) }
	switch {
	case name == "":
		return problemf("%s: choose a file", k.name)
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\,\x00\n\r"):
		return problemf("%s: the name must be of a file below the folder that is served, without a "+
			"comma or a backslash", k.name)
	case strings.HasPrefix(name, "-"):
		return problemf("%s: the name must not begin with a dash", k.name)
	case !slices.ContainsFunc(k.endings, ends):
		return problemf("%s: the name must end in %s", k.name, strings.Join(k.endings, ", "))
	}
	if info, err := f.root.Stat(path.Dir(name)); err != nil || !info.IsDir() {
		return problemf("%s: there is no folder %s", k.name, path.Dir(name))
	}
	for _, n := range []string{name, name + ".ledger"} { // whose account is elsewhere
		if info, err := f.root.Lstat(n); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return problemf("%s: %s is a link: serve the folder where it lies", k.name, n)
		}
	}
	return nil
}

// open opens a file that a step reads. To open a pipe would wait for somebody who writes into it.
func (f *folder) open(k kind, name string) (*os.File, error) {
	if err := f.place(k, name); err != nil {
		return nil, err
	}
	info, err := f.root.Lstat(name)
	if err == nil && info.Mode().IsRegular() {
		var opened *os.File
		if opened, err = f.root.Open(name); err == nil {
			return opened, nil
		}
	}
	return nil, problemf("%s: %s is no file of this folder, or cannot be opened", k.name, name)
}

// have checks that a file can be opened.
func (f *folder) have(k kind, name string) error {
	opened, err := f.open(k, name)
	if err == nil {
		opened.Close()
	}
	return err
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
	Name   string
	Size   int64
	Ledger *account // of a table
	Drawn  bool     // the model of the page gives the table, byte for byte
}

// mostFiles are listed.
const mostFiles = 500

// files lists the files of a kind, in the folder and the folders in it.
func (f *folder) files(k kind) (out []entry) {
	fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		hidden := err == nil && name != "." && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil, e.IsDir() && (hidden || strings.Contains(name, "/")):
			return fs.SkipDir
		case len(out) == mostFiles:
			return fs.SkipAll
		case !hidden && e.Type().IsRegular() && f.place(k, name) == nil:
			if info, err := e.Info(); err == nil {
				out = append(out, entry{Name: name, Size: info.Size()})
			}
		}
		return nil
	})
	return out
}

// stem is a file's name without its ending.
func stem(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zip")
	return strings.TrimSuffix(name, path.Ext(name))
}
