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
	"strings"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/schema"
)

// Plan is what a task is to count. It is public: it stands in the query, which Spark logs, and is
// the first line that a worker reads.
type Plan struct {
	Reads   string   `json:"reads"`   // what the program reads odd cells as: see fingerprint
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

// Encode is the plan as one word. Its error is that of a local run whose file has these columns.
func (p *Plan) Encode() (word string, err error) {
	if p.s, err = schema.Parse([]byte(p.Schema)); err != nil {
		return "", err
	}
	p.s = p.s.ForPrivate()
	if p.Reads, err = p.fingerprint(); err != nil {
		return "", err
	}
	return p.word()
}

func (p *Plan) word() (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(p), z.Close()); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// maxPlan bounds the JSON of a plan.
const maxPlan = 1 << 24

// decode is the plan of a word.
func decode(word string) (*Plan, error) {
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
	if reads, err := p.fingerprint(); err != nil || reads != p.Reads {
		return nil, errPlan
	}
	return p, nil
}

// protocol is the version of what the two programs say to one another.
const protocol = 2

// odd are cells that programs may read in ways of their own, by what they stand for.
var odd = map[Type][]string{
	Text: {"", " ", "?", "a", `a\\b`, `\n`, `\1`, "ä", "A", "true", "T", "0", "1", "-0", "7", "3.",
		"-.5", "1e3",
		"1e999", "2e-324", "0.30000000000000004", "9007199254740993", "NaN", "inf", "0x10", "1_0", " 1",
		"<5", "≥0.5", "2000-02-29", "2001-02-29", "2000-2-9", "2020-01-01T00:00:00Z", "２"},
	truth:  {"true", "false"},
	whole:  {"0", "1", "-1", "7", "90", "9223372036854775807", "-9223372036854775808"},
	real:   {"0", "-0", "0.1", "2.5", "-2.5", "1e301", "5e-324", "NaN", "Infinity", "-Infinity"},
	Days:   {"0", "18262", "-719163", "2932897"},
	Micros: {"0", "1577836800000000", "-62135596800000001", "253402300800000000"},
}

// fingerprint is a hash of the codes, or the texts, that this program reads odd cells of the plan's
// columns as, of the sums over them and the arithmetic that makes these, and of the ends of their
// bins: another build, or one for another machine, may be the worker if it has the same.
func (p *Plan) fingerprint() (string, error) {
	b, err := newBlock(p.Columns)
	if err != nil {
		return "", err
	}
	for row := range len(odd[Text]) + 1 {
		var cells []string
		for _, c := range p.Columns {
			list := append(odd[c.Type], null)
			cells = append(cells, list[row%len(list)])
		}
		if err := b.add([]byte(strings.Join(cells, string(separator)))); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	fmt.Fprintln(h, protocol)
	if _, ok := engine.AskedTexts(p.Question); ok {
		t, err := b.texts(len(p.Columns))
		err = errors.Join(err, json.NewEncoder(h).Encode(t))
		return fmt.Sprintf("%x", h.Sum(nil)), err
	}
	t, err := b.table(p)
	if err != nil {
		return "", err
	}
	kernel := ""
	if p.Question.Kind == engine.GradientKind {
		sum, err := sums.New(p.s, p.Question)
		if err != nil {
			return "", err
		}
		sum.Add(t)
		fmt.Fprintln(h, sum.Answer)
		kernel = sums.Kernel()
	}
	codecs, err := p.s.Codecs()
	for i, c := range codecs {
		for row := range t.Rows() {
			fmt.Fprintln(h, t.Column(i).At(row))
		}
		for code := range c.Values() {
			if c.Column().Kind.Ordered() {
				fmt.Fprintln(h, fmt.Sprint(c.Bin(uint16(code))))
			}
		}
	}
	return fmt.Sprintf("%x%s", h.Sum(nil), kernel), err
}

var (
	errPlan = errors.New("worker: not a plan")
	errLine = errors.New("worker: a line of another form")
)
