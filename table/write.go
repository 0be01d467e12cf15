package table

import (
	"io"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/schema"
)

// Format is a file format.
type Format uint8

const (
	CSV Format = iota + 1
	Parquet
)

// FormatOf returns the format that the extension of path names.
func FormatOf(path string) (Format, error) { return 0, errTODO }

// Writer writes tables to one file.
type Writer interface {
	Write(t *Table) error
	Close() error
}

// NewWriter returns a writer of format f to w.
func NewWriter(w io.Writer, f Format, s *schema.Schema, u *rand.Rand) (Writer, error) {
	return nil, errTODO
}
