package privacy

import (
	"errors"
	"io/fs"
	"os"

	"github.com/decoy-dp/decoy/ledger"
)

// This file looks at the journal of another process: no session does, and no answer comes from it.

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
	if run, err = j.left(file); err == nil && run == "" && j.Run != "" && !running {
		j.remove()
	}
	return run, running && run != "", err
}
