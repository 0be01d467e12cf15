package configs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"in.csv", "other.csv"} {
		check(t, os.WriteFile(at(name), []byte("x"), 0o600))
	}
	check(t, os.Mkdir(at("sub"), 0o700))
	if os.Link(at("in.csv"), at("hard.csv")) != nil ||
		os.Symlink(at("in.csv"), at("soft.csv")) != nil || os.Symlink(dir, at("sub", "up")) != nil {
		t.Skip("no links here")
	}
	for _, c := range []struct {
		name          string
		written, read []string
		refused       bool
	}{
		{"apart", []string{at("out.csv")}, []string{at("in.csv")}, false},
		{"output is input", []string{at("in.csv")}, []string{at("in.csv")}, true},
		{"another spelling", []string{at("sub", "..", "in.csv")}, []string{at("in.csv")}, true},
		{"hard link", []string{at("hard.csv")}, []string{at("in.csv")}, true},
		{"symbolic link", []string{at("soft.csv")}, []string{at("in.csv")}, true},
		{"two outputs, neither there", []string{at("new.csv"), at("sub", "up", "new.csv")}, nil, true},
		{"two outputs, nor are their folders", []string{at("a", "b", "new.csv"),
			at("sub", "up", "a", "b", "new.csv")}, nil, true},
		{"two outputs, both there", []string{at("in.csv"), at("other.csv")}, nil, false},
		{"one is there", []string{at("new.csv")}, []string{at("other.csv")}, false},
		{"standard output twice", []string{"-", "-"}, []string{"-"}, false},
		{"a file called as standard input", []string{at("-")}, []string{"-"}, false},
		{"unset", []string{"", ""}, []string{""}, false},
		{"second output is an input", []string{at("new.csv"), at("other.csv")},
			[]string{at("in.csv"), at("other.csv")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			places := func(paths []string) (out []NamedPath) {
				for _, p := range paths {
					out = append(out, NamedPath{"file", p})
				}
				return out
			}
			if err := Distinct(places(c.written), places(c.read)); (err != nil) != c.refused {
				t.Errorf("error %v, want refused = %v", err, c.refused)
			}
		})
	}
}

// TestResolve: a path stays the same when the folders above the file are made.
func TestResolve(t *testing.T) {
	dir := Resolve(t.TempDir())
	check(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	if os.Symlink("real", filepath.Join(dir, "link")) != nil {
		t.Skip("no links here")
	}
	for path, want := range map[string]string{
		"link/out/new.csv": "real/out/new.csv", "link/out/deep/": "real/out/deep",
		"link/../new.csv": "new.csv", "none/./new.csv": "none/new.csv", ".": ".",
	} {
		want = filepath.Join(dir, want)
		if got := Resolve(dir + "/" + path); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	before := Resolve(filepath.Join(dir, "link", "out", "new.csv"))
	check(t, os.Mkdir(filepath.Join(dir, "link", "out"), 0o700))
	if after := Resolve(filepath.Join(dir, "link", "out", "new.csv")); after != before {
		t.Errorf("%s became %s", before, after)
	}
}
