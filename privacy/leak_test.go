package privacy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeaksDoNotCompile compiles the programs in testdata/leak. Each tries to get round the gate and must fail with the error in its
// first line; the one called ok uses the gate as intended and must compile, or a broken import would pass for a closed door.
func TestLeaksDoNotCompile(t *testing.T) {
	dirs, err := filepath.Glob("testdata/leak/*")
	if err != nil || len(dirs) < 8 {
		t.Fatalf("found %d programs: %v", len(dirs), err)
	}
	args := []string{"build", "-o", os.DevNull}
	for _, dir := range dirs {
		args = append(args, "./"+filepath.ToSlash(dir))
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err == nil {
		t.Fatal("every program compiled")
	}
	messages := map[string]string{}
	for _, part := range strings.Split(string(out), "# github.com/decoy-dp/decoy/privacy/testdata/leak/") {
		if name, text, found := strings.Cut(part, "\n"); found {
			messages[name] = text
		}
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		src, err := os.ReadFile(filepath.Join(dir, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(src), "\n")
		want, isLeak := strings.CutPrefix(first, "// want: ")
		got, failed := messages[name]
		switch {
		case !isLeak && failed:
			t.Errorf("%s must compile: %s", name, got)
		case isLeak && !failed:
			t.Errorf("%s compiled", name)
		case isLeak && !strings.Contains(got, want):
			t.Errorf("%s failed with\n%s\nwant %q", name, got, want)
		}
	}
}
