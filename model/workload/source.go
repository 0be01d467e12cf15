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
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", setting)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(setting)
}
