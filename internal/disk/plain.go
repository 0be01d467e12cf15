//go:build !(faults && unix)

package disk

import "os"

func step(_, _ string, do func() error) error { return do() }

// Write is f.Write.
func Write(f *os.File, b []byte) (int, error) { return f.Write(b) }

// Remove is os.Remove.
func Remove(name string) error { return os.Remove(name) }
