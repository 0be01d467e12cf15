package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// journal is a ledger of one unfinished run that holds its answers too: an opening line, and the
// lines of its charges as the ledger of the table has them, in the order in which the answers were
// given. The last line of each answer has the answer. Its process keeps it locked.
//
// It is as secret as the table (docs/claims/session.md says why). Its mode is 0600, and it is
// removed when the run ends.
type journal struct {
	path string
	file *ledger.Locked // nil: another process has it

	run string // "": none
	header
	answers []ledger.Entry // as found
	whole   int64          // bytes of the file that are header and whole answers
	chain   ledger.Ledger  // the last line
}

// header says what else decides how a run goes on. Texts are bytes, which JSON keeps as they are.
type header struct {
	Program []byte   `json:"program"`
	Outputs [][]byte `json:"outputs,omitempty"` // that the run is for
}

// maxJournal bounds what is read of a journal, in bytes.
const maxJournal = 1 << 30

// withJournal pays for a run that has one. A run that was begun in the same file and has ended, or
// was never reserved, gives way to a new one.
func (s *session) withJournal(ctx context.Context, o Options) (err error) {
	switch {
	case o.Ledger == nil:
		return errors.New("a journal needs a ledger file")
	case filepath.Clean(o.Journal) == filepath.Clean(o.Ledger.Path()):
		return errors.New("the journal is the ledger")
	}
	if s.journal, err = openJournal(o.Journal); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.journal.leave()
		}
	}()
	if o.Resume {
		return s.resume(ctx, o)
	}
	if left, err := s.journal.holds(s.file); err != nil {
		return err
	} else if left != "" {
		return fmt.Errorf("the journal %s holds run %s: %w", s.journal.path, left, ErrUnfinished)
	}
	h := header{Program: []byte(o.Program)}
	for _, out := range o.Outputs {
		h.Outputs = append(h.Outputs, []byte(out))
	}
	if err = s.journal.start(s.run, h); err != nil {
		return err
	}
	if err = s.reserve(ctx, o); err != nil {
		// A line that was written and could not be synced can be continued, unless it is another run's.
		l, failed := s.file.Read()
		if errors.Is(err, ErrRun) || failed == nil && len(linesOf(l, s.run)) == 0 {
			s.journal.remove()
		}
	}
	return err
}

// openJournal locks and reads a journal, which it makes if there is none. With ErrLocked it returns
// the journal of another process.
func openJournal(path string) (*journal, error) {
	if info, err := os.Lstat(path); err == nil &&
		(!info.Mode().IsRegular() || info.Size() > maxJournal) {
		return nil, fmt.Errorf("the journal %s is not a regular file of at most %d bytes: %w",
			path, int64(maxJournal), ErrResume)
	}
	file, err := ledger.Lock(context.Background(), path, 0)
	j := &journal{path: path, file: file}
	switch {
	case errors.Is(err, ledger.ErrLocked):
		return j, errors.Join(j.restore(),
			fmt.Errorf("%s: another process is at this run: %w", path, ledger.ErrLocked))
	case err != nil:
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if err := j.restore(); err != nil {
		j.leave()
		return nil, err
	}
	return j, nil
}

// start makes the journal that of a new run.
func (j *journal) start(run string, h header) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	j.chain, j.whole = ledger.Ledger{}, 0
	if err := j.put([]ledger.Entry{{Kind: ledger.EntryOpen, Run: run, Data: b}}, nil, 0); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("syncing the journal's folder: %w", err)
	}
	return nil
}

// put appends the lines of an answer: from here on it is never drawn again. With room they are as
// long as the bare ones, which the draw does not decide, and so many bytes: a write that fails for
// their length fails whatever was drawn. Without a journal it does nothing.
func (j *journal) put(lines, bare []ledger.Entry, room int) error {
	if j == nil {
		return nil
	}
	text, chain, err := j.sealed(lines)
	if err == nil && room > 0 {
		least, _, _ := j.sealed(bare)
		fill := len(least) + room - len(text) - len(`"tool":"",`)
		if fill < 1 {
			return errors.New("an answer is longer than its record")
		}
		// which nobody reads; within the line that has the answer, so that all is there or nothing
		lines[len(lines)-1].Tool = strings.Repeat("-", fill)
		text, chain, err = j.sealed(lines)
	}
	if err != nil {
		return err
	}
	if !j.file.There() {
		return fmt.Errorf("the journal %s was removed or replaced while the run was at work",
			j.path)
	}
	if err := j.file.Put(text, j.whole, true); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	j.whole, j.chain = j.whole+int64(len(text)), chain
	return nil
}

// sealed is what lines are behind the last one, and the new last one.
func (j *journal) sealed(lines []ledger.Entry) (text []byte, chain ledger.Ledger, err error) {
	chain.Entries = slices.Clone(j.chain.Entries)
	for _, e := range lines {
		line, err := chain.Add(e)
		if err != nil {
			return nil, chain, err
		}
		text, chain.Entries = append(text, line...), chain.Entries[len(chain.Entries)-1:]
	}
	return text, chain, nil
}

// leave gives the lock up; the journal stays for the next process.
func (j *journal) leave() {
	if j != nil && j.file != nil {
		j.file.Close()
	}
}

// remove ends the journal. It is locked until it is gone.
func (j *journal) remove() {
	if j != nil && j.file.There() {
		disk.Remove(j.path)
	}
	j.leave()
}
