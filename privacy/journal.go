package privacy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

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
// and one line an answer, each with the hash of all before it. Its process keeps it locked.
//
// It is as secret as the table: an answer that was drawn and whose process died before returning it
// may be in it, and whoever reads the file as it grows could choose what is drawn again
// (docs/claims/session.md). Its mode is 0600, and it is removed when the run ends.
type journal struct {
	path string
	lock *flock.Flock
	head string // hash of the last line
}

// header is the first line of a journal.
type header struct {
	Journal int       `json:"journal"` // version of the format
	Run     string    `json:"run"`
	Program string    `json:"program"`
	Day     time.Time `json:"day"`               // of the reservation
	Outputs []string  `json:"outputs,omitempty"` // that the run is for
}

// record is an answer and what it cost.
type record struct {
	Query   string              `json:"query"`
	Charges []accountant.Charge `json:"charges,omitempty"`
	Answer  []byte              `json:"answer"`
	Hash    string              `json:"hash"`
}

const journalVersion = 1

// maxJournal bounds what is read of a journal, in bytes.
const maxJournal = 1 << 30

// seal returns the line of r behind a line with hash prev, and sets its own.
func (r *record) seal(prev string) ([]byte, error) {
	r.Hash = ""
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	r.Hash = hashOf(prev, b)
	if b, err = json.Marshal(r); err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

func hashOf(prev string, b []byte) string {
	sum := sha256.Sum256(append([]byte(prev), b...))
	return hex.EncodeToString(sum[:])
}

// lockJournal opens and locks a journal, which it makes if there is none.
func lockJournal(path string) (*journal, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("privacy: the journal %s is not a regular file", path)
	}
	for {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return nil, fmt.Errorf("privacy: locking the journal: %w", err)
		case !ok:
			return nil, fmt.Errorf("privacy: %s: another process is at this run: %w", path, ledger.ErrLocked)
		}
		// The process that had it may have removed it between our opening and our locking it.
		if j := (&journal{path: path, lock: lock}); j.mine() {
			return j, nil
		}
		lock.Unlock()
	}
}

// read returns the header and the whole records. A last line that is cut short, or does not verify,
// was never returned to anybody. empty says that not even a header is whole.
func (j *journal) read() (h header, rs []record, whole int64, err error) {
	info, err := os.Lstat(j.path)
	if err != nil {
		return h, nil, 0, fmt.Errorf("privacy: reading the journal: %w", err)
	}
	if !info.Mode().IsRegular() {
		return h, nil, 0,
			fmt.Errorf("privacy: the journal %s is not a regular file: %w", j.path, ErrResume)
	}
	if info.Size() > maxJournal {
		return h, nil, 0, fmt.Errorf(
			"privacy: the journal %s has more than %d bytes: %w", j.path, int64(maxJournal), ErrResume,
		)
	}
	b, err := os.ReadFile(j.path)
	if err != nil {
		return h, nil, 0, fmt.Errorf("privacy: reading the journal: %w", err)
	}
	damaged := func() error {
		return fmt.Errorf("privacy: the journal %s is damaged: %w", j.path, ErrResume)
	}
	line, rest, found := bytes.Cut(b, []byte("\n"))
	if !found {
		if start := []byte(`{"journal":`); !bytes.HasPrefix(start, b) && !bytes.HasPrefix(b, start) {
			return header{}, nil, 0, fmt.Errorf("privacy: %s is not a journal: %w", j.path, ErrResume)
		}
		return header{}, nil, 0, nil
	}
	if json.Unmarshal(line, &h) != nil || h.Journal != journalVersion || !isRun(h.Run) {
		return h, nil, 0, damaged()
	}
	j.head, whole = hashOf("", line), int64(len(line)+1)
	for len(rest) > 0 {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		var r record
		want := ""
		if found && json.Unmarshal(line, &r) == nil {
			want = r.Hash
			if again, err := r.seal(j.head); err != nil ||
				!bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
				want = ""
			}
		}
		if want == "" || r.Hash != want {
			if len(after) > 0 {
				return h, nil, 0, damaged()
			}
			break // torn
		}
		rs, j.head, whole, rest = append(rs, r), r.Hash, whole+int64(len(line)+1), after
	}
	return h, rs, whole, nil
}

// start makes the journal that of a new run.
func (j *journal) start(h header) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	j.head = hashOf("", b)
	if err := j.write(append(b, '\n'), 0); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("privacy: syncing the journal's folder: %w", err)
	}
	return nil
}

// add appends a record: from here on it is never drawn again.
func (j *journal) add(r *record) error {
	line, err := r.seal(j.head)
	if err != nil {
		return err
	}
	if err := j.write(line, -1); err != nil {
		return err
	}
	j.head = r.Hash
	return nil
}

// write appends b, after cutting the file to size unless that is negative, and syncs it.
func (j *journal) write(b []byte, size int64) error {
	if !j.mine() {
		return fmt.Errorf(
			"privacy: the journal %s was removed or replaced while the run was at work", j.path,
		)
	}
	f, err := disk.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("privacy: opening the journal: %w", err)
	}
	defer f.Close()
	if size >= 0 {
		if err := disk.Truncate(f, size); err != nil {
			return fmt.Errorf("privacy: cutting the journal: %w", err)
		}
	}
	if _, err := disk.Write(f, b); err != nil {
		return fmt.Errorf("privacy: writing the journal: %w", err)
	}
	if err := disk.Sync(f); err != nil {
		return fmt.Errorf("privacy: syncing the journal: %w", err)
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
	if j != nil {
		if j.mine() {
			disk.Remove(j.path)
		}
		j.lock.Unlock()
	}
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

// Left is what a journal holds of a run that has not come to its end.
type Left struct {
	Run     string   // "" if there is none
	Running bool     // its process is still at it
	Outputs []string // that it was begun for (Options.Outputs)
}

// Unfinished reports the run that a journal holds, if the ledger has its reservation and not its
// end. A journal that is not there holds none; one that is damaged is an error that wraps
// [ErrResume], and one whose answers the ledger knows nothing of is [ErrUnfinished]. The journal of
// a run that has ended, whose process died before it removed the file, is removed.
func Unfinished(path string, file *ledger.File) (Left, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Left{}, nil
	}
	j := &journal{path: path}
	h, records, _, err := j.read()
	if err != nil || h.Run == "" {
		return Left{}, err
	}
	l, err := file.Read()
	if err != nil {
		return Left{}, err
	}
	switch statusOf(l, h.Run) {
	case ledger.StatusUnfinished:
		return Left{h.Run, locked(path), h.Outputs}, nil
	case "":
		return Left{}, unknown(path, h, records)
	}
	removeEnded(path, h.Run)
	return Left{}, nil
}

// unknown is an error if a journal holds answers of a run that the ledger does not have: they were
// paid for in another one. Without answers the process died before it reserved.
func unknown(path string, h header, records []record) error {
	if len(records) == 0 {
		return nil
	}
	return fmt.Errorf(
		"privacy: the journal %s holds answers of run %s, which its ledger does not know: "+
			"put the right ledger back, "+
			"or remove the journal to give the run up: %w",
		path,
		h.Run,
		ErrUnfinished,
	)
}

// locked reports whether a process has the journal.
func locked(path string) bool {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := lock.TryLock()
	if free {
		lock.Unlock()
	}
	return err == nil && !free
}

// removeEnded removes the journal of a run that has ended, unless another run has the file by now.
func removeEnded(path, run string) {
	j, err := lockJournal(path)
	if err != nil {
		return // whoever has it removes it
	}
	if h, _, _, err := j.read(); err == nil && (h.Run == run || h.Run == "") {
		j.remove()
	} else {
		j.leave()
	}
}

// statusOf is the status of a run in a ledger, "" if it is not there.
func statusOf(l *ledger.Ledger, run string) string {
	for _, r := range l.Runs() {
		if r.Run == run {
			return r.Status
		}
	}
	return ""
}

// isRun reports whether the name is one of newRun, and so safe in a file's name.
func isRun(run string) bool {
	for _, c := range run {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return len(run) == 16
}
