package schema

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// draftOf drafts a schema from rows whose first is the names.
func draftOf(rows [][]string) (*Schema, error) {
	d := NewDrafter(rows[0])
	for _, row := range rows[1:] {
		d.Add(row)
	}
	return d.Schema()
}

// The draft of a small hospital table is the one a person would accept, and
// every row of the table encodes under it.
func TestDraftAdmissions(t *testing.T) {
	f := stattest.Must(os.Open("testdata/admissions.csv"))
	defer f.Close()
	rows := stattest.Must(csv.NewReader(f).ReadAll())
	s := stattest.Must(draftOf(rows))
	checkForm(t, s, "testdata/admissions.draft.yaml")
	checkIdentity(t, s)
	checkEncodes(t, s, rows)
}

func checkEncodes(t *testing.T, s *Schema, rows [][]string) {
	t.Helper()
	codecs := stattest.Must(s.Codecs())
	for i, row := range rows[1:] {
		for j, cell := range row {
			stattest.Passes(t, stattest.Err(codecs[j].EncodeText([]byte(cell))),
				"row %d, column %q", i+1, rows[0][j])
		}
	}
}

func TestDraftKinds(t *testing.T) {
	for _, test := range cases[struct {
		Name, Cells, Column string
		Times               int
	}](t, "drafts.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			rows := [][]string{{"x"}}
			cells := strings.Split(test.Cells, "|")
			for range max(1, test.Times) {
				for _, cell := range cells[:len(cells)-1] {
					rows = append(rows, []string{cell})
				}
			}
			rows = append(rows, cells[len(cells)-1:])
			s := stattest.Must(draftOf(rows))
			want := columnOf(t, test.Column, false)
			if diff := cmp.Diff(want.filled(), s); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			checkIdentity(t, s)
			checkEncodes(t, s, rows)
		})
	}
}

// What cannot be drafted is named by its position; the rest is drafted.
func TestDraftProblems(t *testing.T) {
	rows := [][]string{{"id", "age", "empty"}}
	for i := range 1001 {
		rows = append(rows, []string{fmt.Sprintf("patient %d", i), "50", ""})
	}
	s, err := draftOf(rows)
	want := "schema: column number 1: more than 1000 distinct texts: leave the column out, give it " +
		"a kind or its categories by hand\n" +
		"schema: column number 3: every cell is empty: leave the column out, or describe it by hand"
	if err == nil || err.Error() != want || !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if s == nil || len(s.Columns) != 1 || s.Columns[0].Name != "age" {
		t.Errorf("got the schema %+v", s)
	}

	d := NewDrafter(rows[0][:1])
	for _, row := range rows[1:1001] {
		d.Add(row[:1])
	}
	if s, err := d.Schema(); err != nil || len(s.Columns[0].Categories) != 1000 {
		t.Errorf("1000 categories: %v", err)
	}
}

func TestDraftRefuses(t *testing.T) {
	tests := map[string]struct {
		rows [][]string
		want string
	}{
		"no rows": {[][]string{{"a"}}, "schema: there are no rows to draft from"},
		"nothing left": {[][]string{{"a"}, {""}},
			"schema: column number 1: every cell is empty: leave the column out, or describe it by hand"},
		"duplicate names": {[][]string{{"a", "a"}, {"1", "2"}},
			`schema: column "a": the name is that of column number 1`},
		"no name": {[][]string{{""}, {"1"}}, "schema: column number 1: a column needs a name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := draftOf(test.rows)
			if s != nil || err == nil || err.Error() != test.want || !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, %v", s, err)
			}
		})
	}
}

func TestRoundOutward(t *testing.T) {
	tests := []struct {
		x        float64
		down, up float64
	}{
		{0, 0, 0}, {17, 17, 17}, {5, 5, 5}, {199, 190, 200}, {991, 990, 1000}, {995, 990, 1000}, {1200,
			1200, 1200}, {1201, 1200, 1300},
		{0.3, 0.3, 0.3}, {0.123, 0.12, 0.13}, {-0.123, -0.13, -0.12}, {-199, -200, -190}, {1e-9, 1e-9,
			1e-9}, {1.11e-9, 1.1e-9, 1.2e-9},
		{9.99e299, 9.9e299, 1e300}, {99999, 99000, 100000},
	}
	for _, test := range tests {
		if got := roundOutward(test.x, -1); got != test.down {
			t.Errorf("%v is rounded down to %v, want %v", test.x, got, test.down)
		}
		if got := roundOutward(test.x, 1); got != test.up {
			t.Errorf("%v is rounded up to %v, want %v", test.x, got, test.up)
		}
	}
}
