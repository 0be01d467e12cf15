package privacy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// This file looks at what other processes left: no session does, and no answer comes from it.

// Unfinished is the run that a journal holds, if the ledger has its reservation and not its end,
// and whether its process is still at it. "" is none. A journal that is not there holds none; one
// that is damaged is an error that wraps [ErrResume], and one whose answers the ledger knows
// nothing of is [ErrUnfinished]. The journal of a run that has ended, whose process died before it
// removed the file, is removed.
func Unfinished(path string, file *ledger.File) (run string, running bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	j, err := openJournal(path)
	running = errors.Is(err, ledger.ErrLocked) && !errors.Is(err, ErrResume)
	if err != nil && !running {
		return "", false, err
	}
	defer j.leave()
	if run, err = j.left(file); err == nil && run == "" && j.run != "" && !running {
		j.remove()
	}
	return run, running && run != "", err
}

// HashMeasured is the hash that the charges of [Session.MeasureAll] have in the ledger: of the
// queries qs about columns of these numbers of codes, of sigma, and of the counts that were
// returned. So whoever has these can hold them to a ledger. It returns an error for queries that
// cannot be asked, or have other numbers of cells.
func HashMeasured(sizes []int, qs []Query, sigma float64, counts [][]int64) (string, error) {
	queries, err := compileAll(sizes, false, qs)
	if err != nil {
		return "", fmt.Errorf("privacy: %w", err)
	}
	of := access.Ask("measure").Floats(sigma)
	for i, q := range queries {
		of.Text(q.Key)
		if len(counts) != len(queries) || len(counts[i]) != q.Cells {
			return "", fmt.Errorf("privacy: the counts are not of these queries")
		}
	}
	return hashOf(of.Sum(), access.Bytes(slices.Concat(counts...)...)), nil
}
