package workload

import (
	"fmt"
	"os"
	"strings"
)

// Source is the YAML that a setting called workload stands for: its own text if that has the key
// decoy_workload, else the content of the file it names; nil for "". The error is that of reading
// the file.
func Source(setting string) ([]byte, error) {
	switch {
	case setting == "":
		return nil, nil
	case strings.Contains(setting, "decoy_workload"):
		return []byte(setting), nil
	}
	info, err := os.Stat(setting) // before the opening of a pipe waits for a writer
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", setting)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", setting)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has more than %d bytes", setting, maxFile)
	}
	return os.ReadFile(setting)
}
