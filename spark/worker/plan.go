// Package worker counts rows inside a task of Spark. A task hands it rows as lines of text on its
// standard input, and gets numbers of cells and counts on its standard output: never a cell of the
// table, nor anything on standard error.
//
// Rows become codes by package table, which reads the files of a local run too, so that both count
// the same.
package worker

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/schema"
)

// Plan is what a task is to count. It is public: it stands in the query, which Spark logs, and is
// the first line that a worker reads.
type Plan struct {
	Program string   `json:"program"` // SHA-256 of the program, which is the same on all machines
	Schema  string   `json:"schema"`  // YAML
	Columns []Column `json:"columns"` // of the lines
	Nonce   []byte   `json:"nonce"`   // of the run: a hash key of texts, which need not be secret
	// what is asked of them
	Question engine.Question `json:"question"`

	s *schema.Schema
}

// Column is a column of the lines.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// Encode is the plan as one word.
func (p *Plan) Encode() (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(p), z.Close()); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// maxPlan bounds the JSON of a plan.
const maxPlan = 1 << 24

// Decode is the plan of a word.
func Decode(word string) (*Plan, error) {
	z, err := gzip.NewReader(base64.NewDecoder(base64.RawURLEncoding, bytes.NewReader([]byte(word))))
	if err != nil {
		return nil, errPlan
	}
	p := &Plan{}
	if err := json.NewDecoder(io.LimitReader(z, maxPlan)).Decode(p); err != nil {
		return nil, errPlan
	}
	if p.s, err = schema.Parse([]byte(p.Schema)); err != nil {
		return nil, errPlan
	}
	p.s = p.s.ForPrivate()
	return p, nil
}

var (
	errPlan = errors.New("worker: not a plan")
	errLine = errors.New("worker: a line of another form")
)

// Digest is the SHA-256 of a file, in hexadecimal.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
