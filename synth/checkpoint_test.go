package synth

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/privacy"
)

func TestCheckpointFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	if _, err := ReadCheckpoint(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	want := Checkpoint{"0123456789abcdef", "wgan", []byte("a\nstate\x00")}
	for range 2 { // the second time in the place of the first
		if err := want.write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadCheckpoint(path)
	if err != nil || got.Run != want.Run || got.Method != want.Method || !bytes.Equal(got.State, want.State) {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := parseCheckpoint(whole[:n]); !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		damaged := bytes.Clone(whole)
		damaged[n] ^= 4
		if _, err := parseCheckpoint(damaged); !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("damaged at %d: %v", n, err)
		}
	}
	if err := want.write(filepath.Join(path, "below a file")); err == nil {
		t.Error("written where nothing can be")
	}
}

// TestInterruptedNeedsTheLedger: a checkpoint whose run the ledger does not know is no interrupted run, a damaged one is an error.
func TestInterruptedNeedsTheLedger(t *testing.T) {
	dir := t.TempDir()
	path, ledger := filepath.Join(dir, "c"), privacy.NewLedgerFile(filepath.Join(dir, "l"))
	if _, ok, err := Interrupted(path, ledger); ok || err != nil {
		t.Errorf("no file: %v, %v", ok, err)
	}
	if err := (Checkpoint{Run: "0123456789abcdef"}).write(path); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Interrupted(path, ledger); ok || err != nil {
		t.Errorf("unknown run: %v, %v", ok, err)
	}
	if err := os.WriteFile(path, []byte("decoy checkpoint 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Interrupted(path, ledger); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("damaged: %v", err)
	}
}

// FuzzParseCheckpoint: no input panics, and what is accepted is written as it was.
func FuzzParseCheckpoint(f *testing.F) {
	b, err := Checkpoint{"0123456789abcdef", "wgan", []byte("state")}.bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(checkpointMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCheckpoint(b)
		if err != nil {
			return
		}
		again, err := c.bytes()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseCheckpoint(again); err != nil || back.Run != c.Run || !bytes.Equal(back.State, c.State) {
			t.Errorf("%+v, %v", back, err)
		}
	})
}
