package synth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/privacy"
)

// Resumer is implemented by plans whose fits outlive their process.
type Resumer interface {
	Plan
	// FitFrom is Fit, with checkpoints. It calls save after each release, and now and then in long stretches of post-processing, with
	// all it needs to go on: releases and what was computed from them, never anything that has seen a private row. state is what it saved
	// last in this run, nil for nothing. A mechanism whose result is not in the state, but which the session has no call left for
	// (privacy.Session.Left), was lost with the process: FitFrom goes on without that release. An error of save ends the fit.
	FitFrom(ctx context.Context, s *privacy.Session, state []byte, save func(state []byte) error, p Progress) (Model, error)
}

// StateChecker is implemented by a [Resumer] that can say, before a run is continued, that a state is not of these settings. An error then leaves
// the run as it is; one of FitFrom ends it.
type StateChecker interface {
	CheckState(state []byte) error
}

// ErrCheckpoint is wrapped by every error about a checkpoint that cannot be used.
var ErrCheckpoint = errors.New("not a usable checkpoint")

// Checkpoint is what an interrupted run left: a file of its own, complete or not there. It holds noised and public state only.
type Checkpoint struct {
	Run    string // name of the run in the ledger
	Method string
	State  []byte // of the method
}

// A checkpoint file is a line with the version, one with the header as JSON, the state, and the SHA-256 of all before.
const checkpointMagic = "decoy checkpoint 1\n"

type checkpointHeader struct {
	Run    string `json:"run"`
	Method string `json:"method"`
	Bytes  int    `json:"bytes"` // of the state
}

// ReadCheckpoint reads a checkpoint. An error wraps fs.ErrNotExist if there is none, and ErrCheckpoint if the file is damaged or something else.
func ReadCheckpoint(path string) (Checkpoint, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("synth: reading the checkpoint: %w", err)
	}
	c, err := parseCheckpoint(b)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("synth: %s: %w", path, err)
	}
	return c, nil
}

func parseCheckpoint(b []byte) (Checkpoint, error) {
	body := b[:max(0, len(b)-sha256.Size)]
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], b[len(body):]) {
		return Checkpoint{}, fmt.Errorf("its checksum is wrong: %w", ErrCheckpoint)
	}
	rest, ok := bytes.CutPrefix(body, []byte(checkpointMagic))
	line, state, found := bytes.Cut(rest, []byte("\n"))
	var h checkpointHeader
	if !ok || !found || json.Unmarshal(line, &h) != nil || h.Bytes != len(state) {
		return Checkpoint{}, fmt.Errorf("its header is of another version: %w", ErrCheckpoint)
	}
	return Checkpoint{Run: h.Run, Method: h.Method, State: state}, nil
}

// bytes is the content of the file.
func (c Checkpoint) bytes() ([]byte, error) {
	line, err := json.Marshal(checkpointHeader{c.Run, c.Method, len(c.State)})
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(checkpointMagic)+len(line)+1+len(c.State)+sha256.Size)
	b = append(append(append(append(b, checkpointMagic...), line...), '\n'), c.State...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// write puts the checkpoint in the place of an older one.
func (c Checkpoint) write(path string) error {
	b, err := c.bytes()
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return fmt.Errorf("synth: checkpoint: %w", err)
	}
	defer f.Abort()
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("synth: checkpoint: %w", err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("synth: checkpoint: %w", err)
	}
	return nil
}

// Interrupted returns the checkpoint at path if its run has no end in the ledger: what [Run] can continue. There is none, and no error, if the
// file is not there or its run has ended.
func Interrupted(path string, ledger *privacy.LedgerFile) (c Checkpoint, ok bool, err error) {
	c, err = ReadCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, false, nil
	}
	if err != nil {
		return Checkpoint{}, false, err
	}
	l, err := ledger.Read()
	if err != nil {
		return Checkpoint{}, false, err
	}
	for _, r := range l.Runs() {
		if r.Run == c.Run && r.Status == accountant.StatusUnfinished {
			return c, true, nil
		}
	}
	return Checkpoint{}, false, nil
}
