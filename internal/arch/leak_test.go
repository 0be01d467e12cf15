package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/privacy/mech/threshold"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// TestLeaksDoNotCompile compiles the programs in testdata/leak, which is outside privacy/, as every
// caller is: a program below that may import privacy/internal. Each tries to get round the gate and
// must fail with the error in its first line; the one called ok uses the gate as intended and must
// compile, or a broken import would pass for a closed door.
func TestLeaksDoNotCompile(t *testing.T) {
	dirs, err := filepath.Glob("testdata/leak/*")
	if err != nil || len(dirs) < 14 {
		t.Fatalf("found %d programs: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		src := stattest.Must(os.ReadFile(filepath.Join(dir, "main.go")))
		first, _, _ := strings.Cut(string(src), "\n")
		want, isLeak := strings.CutPrefix(first, "// want: ")
		out, err := exec.Command("go", "build", "-o", os.DevNull, "./"+filepath.ToSlash(dir)).
			CombinedOutput()
		switch {
		case !isLeak && err != nil:
			t.Errorf("%s must compile: %s", dir, out)
		case isLeak && err == nil:
			t.Errorf("%s compiled", dir)
		case isLeak && !strings.Contains(string(out), want):
			t.Errorf("%s failed with\n%s\nwant %q", dir, out, want)
		}
	}
}

// TestNoMethodTakesAnInternalType: whoever cannot name a parameter's type can have the compiler
// infer it, and so pass its zero value.
func TestNoMethodTakesAnInternalType(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*privacy.Session](), reflect.TypeFor[*privacy.Rows](),
		reflect.TypeFor[*text.Session](),
		reflect.TypeFor[*text.Table](), reflect.TypeFor[*vote.Shards[int]](),
		reflect.TypeFor[*threshold.Round](),
	} {
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			for k := 1; k < m.Type.NumIn(); k++ {
				in := m.Type.In(k)
				for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
					in = in.Elem()
				}
				exported := in.PkgPath() == "" || in.Name() == "" || in.Name()[0] < 'a'
				if strings.Contains(in.PkgPath(), "/privacy/internal/") || !exported {
					t.Errorf("%v.%s takes %v", typ, m.Name, in)
				}
			}
		}
	}
}
