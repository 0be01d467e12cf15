package job

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/ledger"
)

// LedgerOf is the ledger of a run on input: the one that --ledger names, else the one beside the
// input. It is nil if there is no input, and none is named.
func LedgerOf(named, input string) (*ledger.File, error) {
	path := named
	var err error
	switch {
	case named != "":
		path, err = LedgerAt(named)
	case IsStandard(input):
		err = Usagef("--ledger is required when the private table is standard input: there is no file " +
			"to keep the account beside")
	case input == "":
		return nil, nil
	default:
		path, err = ledgerBeside(input)
	}
	if err != nil {
		return nil, err
	}
	return LedgerFile(path), nil
}

// ledgerBeside is the ledger of a private file. The account belongs to the data, not to a name of
// theirs: all links, in the name and in the folders, are followed, and a file with two names of
// equal rank has no ledger until one is named.
func ledgerBeside(input string) (string, error) {
	if info, err := os.Stat(input); err == nil && info.Mode().IsRegular() && hardLinks(info) > 1 {
		return "", Usagef("%s has %d names (hard links), and a ledger beside one of them would not be "+
			"found from the others; "+
			"name one ledger for all of them with --ledger, in every run", input, hardLinks(info))
	}
	path, err := LedgerAt(Resolve(input) + ".ledger")
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(input + ".ledger"); err == nil && !SameFile(input+".ledger", path) {
		return "", Usagef("%s leads to %s, and each has a ledger beside it: what was spent on the "+
			"table is in both; ask whoever keeps the account which of them counts, and name that one with "+
			"--ledger", input, Resolve(input))
	}
	return path, nil
}

// LedgerAt is a ledger by the one name that all paths to it give, so that the files beside it are
// beside the real one: within the current folder a relative path, else an absolute one. It refuses
// what is there and cannot be a ledger, before anything waits for a pipe to be opened.
func LedgerAt(path string) (string, error) {
	real := Resolve(path)
	switch info, err := os.Lstat(real); {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fmt.Errorf("the ledger %s is a symbolic link that leads nowhere", path)
	case info.IsDir():
		return "", fmt.Errorf("the ledger %s is a directory", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the ledger %s is not a regular file", path)
	}
	if rel, err := filepath.Rel(Resolve("."), real); err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	return real, nil
}

// Limitable refuses a ledger beside a link to a table: runs would not look there, and the limit
// would hold nobody back.
func Limitable(path string) error {
	table, ok := strings.CutSuffix(path, ".ledger")
	if !ok {
		return nil
	}
	if _, err := os.Stat(table); err != nil {
		return nil
	}
	if beside := Resolve(table) + ".ledger"; beside != Resolve(path) {
		return Usagef("%s leads to %s, whose ledger is %s: that is the one to limit", table,
			Resolve(table), beside)
	}
	return nil
}

// LedgerFile is the ledger at path. Its runs may be of any method and of any version.
func LedgerFile(path string) *ledger.File {
	file := ledger.NewFile(path)
	file.Price = pld.Epsilon
	return file
}
