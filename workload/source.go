package workload

import (
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
	return os.ReadFile(setting)
}
