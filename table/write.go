package table

import (
	"errors"
	"io"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/schema"
)

var errTODO = errors.New("table: not implemented")

// Writer writes tables to one file.
type Writer interface {
	Write(t *Table) error
	Close() error
}

// NewWriter returns a writer of format f to w.
func NewWriter(w io.Writer, f Format, s *schema.Schema, u *rand.Rand) (Writer, error) {
	return nil, errTODO
}
