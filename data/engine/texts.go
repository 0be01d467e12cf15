package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"

	"github.com/decoy-dp/decoy/data/schema"
)

// The kinds of questions about a table that nobody has described, and about its units. That of a
// question about texts is a list of [Text], that of one about units their ranges of rows (of a
// query.ContributionHistogram).
const (
	Classes = "classes" // rows of each class of schema.Classify, column by column
	Values  = "values"  // rows of each magnitude; and of each other text, where these are listed
	Spelled = "texts"   // the bytes of texts that were listed, TextCells numbers for each
	Units   = "units"   // units by their number of rows, before they are bounded
	// the names of the columns, a JSON list of texts: a number for each byte; no row is read
	Columns = "columns"
)

// Text asks about the cells of a column as texts.
type Text struct {
	Column     int               `json:"column"`
	Magnitudes schema.Magnitudes `json:"magnitudes"`     // of Values
	Listed     bool              `json:"listed"`         // of Values: the other texts too
	Cells      []int64           `json:"keys,omitempty"` // of Spelled: of texts that were listed
}

// AskTexts is a question about texts.
func AskTexts(kind string, of []Text) Question {
	q := Question{Kind: kind}
	for _, t := range of {
		q.Listed = q.Listed || t.Listed
		q.Length += t.Length(kind)
	}
	q.Of, _ = json.Marshal(of) // of numbers and texts, which does not fail
	return q
}

// AskedTexts are the columns of a question about texts; ok says whether it is one.
func AskedTexts(q Question) (columns []int, ok bool) {
	if q.Kind != Classes && q.Kind != Values && q.Kind != Spelled {
		return nil, false
	}
	var of []Text
	err := json.Unmarshal(q.Of, &of)
	for _, t := range of {
		columns = append(columns, t.Column)
	}
	return columns, err == nil
}

// Length is how many numbers the answer has for this column, but for those that are listed.
func (t Text) Length(kind string) int {
	switch kind {
	case Classes:
		return schema.Classes()
	case Values:
		return t.Magnitudes.Len()
	}
	return TextCells * len(t.Cells)
}

// AskUnits is a question about units: upTo are the upper ends of the ranges.
func AskUnits(upTo []int) Question {
	of, _ := json.Marshal(upTo) // of whole numbers, which does not fail
	return Question{Kind: Units, Of: of, Length: len(upTo) + 1}
}

// Must is an answer; an error is a panic, of which the gate says that the rows are elsewhere.
func Must(answer []int64, err error) []int64 {
	if err != nil {
		panic(err)
	}
	return answer
}

// MaxText is the longest text that is listed, in bytes.
const MaxText = 200

// Keys gives texts cells of their own, by a keyed hash, so that they can be counted without being
// shown: those of column c of n are from FirstKey + c·2⁶²/n.
type Keys struct {
	columns int
	mac     hash.Hash
}

// FirstKey is above all other cells.
const FirstKey = 1 << 62

// NewKeys is for a table of so many columns. The key need not be secret, but must not depend on the
// table: two texts of a column have one cell with probability n/2⁶².
func NewKeys(key []byte, columns int) *Keys {
	return &Keys{columns, hmac.New(sha256.New, key)}
}

// Cell is the cell of a text of a column.
func (k *Keys) Cell(column int, text []byte) int64 {
	k.mac.Reset()
	k.mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(column)))
	k.mac.Write(text)
	each := FirstKey / uint64(k.columns)
	return FirstKey + int64(each)*int64(column) +
		int64(binary.LittleEndian.Uint64(k.mac.Sum(nil))%each)
}

// KeyColumn is the column of a cell of [Keys], for a table of n columns; n or more, or less than 0,
// if it is of none.
func KeyColumn(cell int64, n int) int { return int((cell - FirstKey) / (FirstKey / int64(n))) }

// A text as numbers that can be added up: how many times it was put, its length, a checksum, and
// its bytes, six in each number.
const (
	pieceBytes = 6
	firstPiece = 3
	TextCells  = firstPiece + (MaxText+pieceBytes-1)/pieceBytes
)

func checksum(text []byte) int64 {
	sum := sha256.Sum256(text)
	return int64(binary.LittleEndian.Uint64(sum[:]) >> 16)
}

// PutText adds a text to its numbers.
func PutText(to []int64, text []byte) {
	to[0]++
	to[1] += int64(len(text))
	to[2] += checksum(text)
	for i, b := range text {
		to[firstPiece+i/pieceBytes] += int64(b) << (8 * (i % pieceBytes))
	}
}

// TextOf is the text that was put, once or several times; not ok if it is not one.
func TextOf(from []int64) (text []byte, ok bool) {
	n := from[0]
	if n < 1 || from[1] < 0 || from[1]/n > MaxText {
		return nil, false
	}
	for i := range from[1] / n {
		piece := from[firstPiece+i/pieceBytes] / n
		text = append(text, byte(piece>>(8*(i%pieceBytes))))
	}
	again := make([]int64, len(from))
	PutText(again, text)
	for i, x := range again {
		if x*n != from[i] {
			return nil, false
		}
	}
	return text, true
}
