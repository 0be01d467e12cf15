package table

import (
	"context"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestIDBlanks: whose a row is does not depend on spaces and tabs around the id, in any format or
// reader; case, zeros, other white space and blanks inside tell ids apart.
func TestIDBlanks(t *testing.T) {
	ids := []string{"7", " 7", "7\t", "\t 7 \t", "07", "a", "A", "a b", "a  b", " a b",
		"\u00a07", "\u20037", "7\v", ""}
	blank := " \t"
	whose := []uint32{0, 0, 0, 0, 1, 2, 3, 4, 5, 4, 6, 7, 8, 9}
	people := schema.Schema{Columns: []schema.Column{
		{Name: "id", Kind: schema.Categorical, Categories: append(ids[:len(ids)-1:len(ids)-1], blank)},
		{Name: "v", Kind: schema.Boolean}}}
	codes := NewCodes(len(ids), len(ids))
	for i := range ids {
		codes.Set(i, uint16(i))
	}
	in := stattest.Must(FromColumns(&people, []Codes{codes, NewCodes(2, len(ids))}, nil))
	whose = whose[:len(whose)-1] // the last is nobody's
	of := schema.Schema{Unit: "id", MaxRowsPerUnit: 9, Columns: people.Columns[1:]}
	for ext, f := range map[string]Format{".csv": CSV, ".parquet": Parquet, ".arrow": Arrow} {
		file := written(t, f, in)
		stattest.Fails(t, stattest.Err(rereadFile(t, ext, file, &of)),
			"%s: a strict schema takes blanks for an id", ext)
		lenient := of
		lenient.Lenient = true
		tab, err := rereadFile(t, ext, file, &lenient)
		if err != nil || !slices.Equal(tab.Units(), whose) {
			t.Errorf("%s: units %v, want %v: %v", ext, tab.Units(), whose, err)
		}
		path := fileOf(t, ext, file)
		texts, err := ReadTexts(context.Background(), path, schema.CSV{}, 2, 0, nil)
		if err != nil || !slices.Equal(texts.Units, whose) {
			t.Errorf("%s: units of texts %v, want %v: %v", ext, texts.Units, whose, err)
		}
		good, err := FromColumns(&people, []Codes{codes.slice(0, len(whose)), NewCodes(2, len(whose))},
			nil)
		stattest.Check(t, err)
		tab, err = rereadFile(t, ext, written(t, f, good), &of)
		if err != nil || !slices.Equal(tab.Units(), whose) {
			t.Errorf("%s: strict units %v, want %v: %v", ext, tab.Units(), whose, err)
		}
	}
}
