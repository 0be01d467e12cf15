package privacy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

var (
	// ErrResume is wrapped by every refusal to continue a run.
	ErrResume = access.ErrResume
	// ErrUnfinished is wrapped when a journal holds a run that has been paid for and has no end:
	// it is continued with Options.Resume, or given up by removing the journal.
	ErrUnfinished = errors.New("an unfinished run has been paid for")
)

// journal holds the answers of an unfinished run, in the order in which they were given: a header
// and one line an answer, which begins with a hash of all up to its end. Its process keeps it
// locked.
//
// It is as secret as the table (docs/claims/session.md says why). Its mode is 0600, and it is
// removed when the run ends.
type journal struct {
	path string
	lock *flock.Flock
	header
	records []record // as found
	whole   int64    // bytes of the file that are header and records
	head    string   // hash of the last line
}

// header says what run a journal is of. Texts are bytes, which JSON keeps as they are.
type header struct {
	Run     string   `json:"run"`
	Program []byte   `json:"program"`
	Outputs [][]byte `json:"outputs,omitempty"` // that the run is for
}

// record is an answer and what it cost.
type record struct {
	Query   string              `json:"query"` // hash of the question
	What    string              `json:"what"`  // for the ledger
	Charges []accountant.Charge `json:"charges,omitempty"`
	Answer  []byte              `json:"answer"`
}

// magic begins a journal.
const magic = "decoy journal 2 "

// maxJournal bounds what is read of a journal, in bytes.
const maxJournal = 1 << 30

func hashOf(prev string, b []byte) string {
	sum := sha256.Sum256(append([]byte(prev), b...))
	return hex.EncodeToString(sum[:])
}

// openJournal locks and reads a journal, which it makes if there is none. With ErrLocked it returns
// the journal of another process.
func openJournal(path string) (*journal, error) {
	if info, err := os.Lstat(path); err == nil &&
		(!info.Mode().IsRegular() || info.Size() > maxJournal) {
		return nil, fmt.Errorf("privacy: the journal %s is not a regular file of at most %d bytes: %w",
			path, int64(maxJournal), ErrResume)
	}
	for {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
		j := &journal{path: path, lock: lock}
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return nil, fmt.Errorf("privacy: locking the journal: %w", err)
		case !ok:
			return j, errors.Join(j.read(),
				fmt.Errorf("privacy: %s: another process is at this run: %w", path, ledger.ErrLocked))
		case j.mine():
			if err := j.read(); err != nil {
				j.leave()
				return nil, err
			}
			return j, nil
		}
		lock.Unlock() // the process that had it removed it between our opening and our locking it
	}
}

// read reads the header, if it is whole, and the whole records. A last line that is cut short, or
// does not verify, was never returned to anybody.
func (j *journal) read() error {
	b, err := os.ReadFile(j.path)
	if err != nil {
		return fmt.Errorf("privacy: reading the journal: %w", err)
	}
	refuse := func(what string) error {
		return fmt.Errorf("privacy: the journal %s %s: %w", j.path, what, ErrResume)
	}
	line, _, found := bytes.Cut(b, []byte("\n"))
	text, ours := bytes.CutPrefix(line, []byte(magic))
	switch {
	case !found && (ours || bytes.HasPrefix([]byte(magic), line)):
		return nil
	case !ours:
		return refuse("is not one")
	case json.Unmarshal(text, &j.header) != nil || !isRun(j.Run):
		return refuse("is damaged")
	}
	j.head, j.whole = hashOf("", line), int64(len(line)+1)
	for j.whole < int64(len(b)) {
		line, after, found := bytes.Cut(b[j.whole:], []byte("\n"))
		sum, text, _ := bytes.Cut(line, []byte(" "))
		var r record
		if !found || hashOf(j.head, text) != string(sum) || json.Unmarshal(text, &r) != nil {
			if len(after) > 0 {
				return refuse("is damaged")
			}
			break // torn
		}
		j.records, j.head, j.whole = append(j.records, r), string(sum), j.whole+int64(len(line)+1)
	}
	return nil
}

// start makes the journal that of a new run.
func (j *journal) start(h header) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	line := append([]byte(magic), b...)
	j.head = hashOf("", line)
	if err := j.write(append(line, '\n'), 0); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("privacy: syncing the journal's folder: %w", err)
	}
	return nil
}

// add appends a record: from here on it is never drawn again. Without a journal it does nothing.
func (j *journal) add(r record) error {
	if j == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	head := hashOf(j.head, b)
	if err = j.write(fmt.Appendf(nil, "%s %s\n", head, b), -1); err == nil {
		j.head = head
	}
	return err
}

// write appends b, after cutting the file to size unless that is negative, and syncs it.
func (j *journal) write(b []byte, size int64) error {
	if !j.mine() {
		return fmt.Errorf("privacy: the journal %s was removed or replaced while the run was at work",
			j.path)
	}
	f, err := disk.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("privacy: opening the journal: %w", err)
	}
	defer f.Close()
	if size >= 0 {
		err = disk.Truncate(f, size)
	}
	if err == nil {
		_, err = disk.Write(f, b)
	}
	if err == nil {
		err = disk.Sync(f)
	}
	if err != nil {
		return fmt.Errorf("privacy: writing the journal: %w", err)
	}
	return nil
}

// leave gives the lock up; the journal stays for the next process.
func (j *journal) leave() {
	if j != nil {
		j.lock.Unlock()
	}
}

// remove ends the journal. It is locked until it is gone.
func (j *journal) remove() {
	if j != nil && j.mine() {
		disk.Remove(j.path)
	}
	j.leave()
}

// mine reports whether the file at the path is the one that is locked: somebody may have removed
// it, and another run have made its own.
func (j *journal) mine() bool {
	locked, err := j.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(j.path)
	return err == nil && os.SameFile(locked, there)
}

// left is the run of a journal, if the ledger has its reservation and not its end, or "". Answers
// of a run that the ledger does not have were paid for in another one; without answers the process
// died before it reserved.
func (j *journal) left(file *ledger.File) (run string, err error) {
	if j.Run == "" {
		return "", nil
	}
	l, err := file.Read()
	if err != nil {
		return "", err
	}
	lines := linesOf(l, j.Run)
	switch {
	case len(lines) == 0 && len(j.records) > 0:
		return "", fmt.Errorf("privacy: the journal %s holds answers of run %s, which its ledger does "+
			"not know: put the right ledger back, or remove the journal to give the run up: %w", j.path,
			j.Run, ErrUnfinished)
	case len(lines) == 0 || lines[len(lines)-1].Kind == ledger.EntryClose:
		return "", nil
	}
	return j.Run, nil
}
