package disk_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/decoy-dp/decoy/internal/disk"
)

func Example() {
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out.csv")

	f, err := disk.Create(out, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Abort()
	fmt.Fprintln(f, "age,sex")
	if _, err := os.Stat(out); err != nil {
		fmt.Println("before Commit: no file")
	}
	if err := f.Commit(); err != nil {
		panic(err)
	}
	b, _ := os.ReadFile(out)
	fmt.Printf("after: %s", b)
	// Output:
	// before Commit: no file
	// after: age,sex
}
