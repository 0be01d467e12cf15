package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// TestCodeName: words of names, which are public.
func TestCodeName(t *testing.T) {
	for name, want := range map[string]bool{"zip": true, "ZIP_code": true, "icd9": true,
		"discharge.disposition.id": true, "diag_1": true, "idle": false, "paid": false, "age": false,
		"zipped": false, "": false} {
		if codeName.MatchString(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// TestNamesID: names of ids, and not of codes that people share.
func TestNamesID(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "ID": true, "patient_id": true,
		"Patient ID": true, "PatientID": true, "patientId": true, "mrn": true, "MRN": true, "pid": true,
		"subject.id": true, "patientid": true, "NHS number": true, "hadm_id": true, "PatNr": true,
		"Pat-Nr.": true, "Patientennummer": true, "Fallnr": true, "FallNr": true, "PID": true,
		"case_id": true, "subject": true, "encounter": true, "nhs": true, "subjective": false,
		"HausNr": false, "": false,
		"paid": false, "age": false, "acid": false, "valid": false, "Covid": false, "number": false,
		"fluid": false, "ID type": false,
		"admission_type_id": false, "store_id": false} {
		if got := NamesID(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestComplement: of a text that was found alone, the other is public, as it is written.
func TestComplement(t *testing.T) {
	for _, tt := range []struct{ name, found, want string }{
		{"thyroid", "f", "t"}, {"sex", "f", "m"}, {"Gender", "F", "M"}, {"x", "t", "f"},
		{"x", "No", "Yes"}, {"x", "NO", "YES"}, {"x", "yes", "no"}, {"x", "N", "Y"}, {"x", "0", "1"},
		{"x", "Female", "Male"}, {"x", "medical", ""}, {"x", "no yes", ""}, {"x", "", ""},
	} {
		if got := complement(tt.name, strings.Fields(tt.found)); got != tt.want {
			t.Errorf("%s, %q: %q, want %q", tt.name, tt.found, got, tt.want)
		}
	}
	for _, tt := range []struct {
		classes string // of 10,000 rows
		rows    int64  // with an N
		want    string
	}{
		{"text 10000", 10000, "N Y"}, {"text 10000", 9900, "N Y"},
		{"text 10000", 9000, "N (other)"}, // more than would be unseen
		{"text 9600 whole 400", 9600, "N (other)"}, {"text 9900 whole 50", 9900, "N (other)"},
	} {
		v := judge("x", classesOf(tt.classes), 10000, 10, 10, tokenSigmas)
		v.readAsTexts()
		c := categories("x", []text.Found{{Text: "N", Rows: tt.rows}}, &v, 100, 10)
		if got := strings.Join(c.Categories, " "); got != tt.want {
			t.Errorf("%s, %d: %s, want %s", tt.classes, tt.rows, got, tt.want)
		}
	}
}

// TestNumbersAmongTexts: a few texts among numbers mean missing, and it is said; more are codes,
// and so are numbers by the name of the column, unless none of them is frequent.
func TestNumbersAmongTexts(t *testing.T) {
	for _, tt := range []struct {
		name, classes, found string
		kind                 schema.Kind
		taken                int
	}{
		{"x", "whole 9000 text 1000", "N", schema.Integer, 1},
		{"x", "whole 9000 text 1000", "a b c", schema.Integer, 3},
		{"x", "whole 9000 text 1000", "a b c d e", schema.Categorical, 0},
		{"x", "whole 9000 text 1000", "", schema.Integer, 0},
		{"x", "whole 6000 text 4000", "", schema.Categorical, 0},
		{"store_id", "whole 10000", "", schema.Categorical, 0},
		{"mrn", "whole 10000", "", schema.Categorical, 0},
	} {
		v := judge(tt.name, classesOf(tt.classes), 10000, 10, 10, tokenSigmas)
		var found []text.Found
		for _, s := range strings.Fields(tt.found) {
			found = append(found, text.Found{Text: s, Rows: int64(1000 / len(strings.Fields(tt.found)))})
		}
		if v.keepKind(found, 10, 10); v.kind != tt.kind || len(v.asMissing) != tt.taken ||
			v.note == "" && v.ifNumbers == 0 && !NamesID(tt.name) {
			t.Errorf("%s, %s, %s: %v, %q, %s", tt.name, tt.classes, tt.found, v.kind, v.asMissing, v.note)
		}
	}
	r := &Inferred{Rows: 10000}
	v, c := judge("store_id", classesOf("whole 10000"), 10000, 10, 10, tokenSigmas), inferredColumn{}
	d := text.Selection{Sigma: 10, Delta: 1e-9}
	if r.fillIn(&v, text.Answer{}, d, &c) || v.kind != schema.Integer || v.asks || c.Found != nil {
		t.Errorf("ids, each its own: %v, %+v", v.kind, c.Found)
	}
}

// TestMissingIsNotInvented: a column without missing cells, such as one that cannot be null, has a
// missing code in 2.7 cases of 100,000; more than 13 come with probability 1e-6. At 4 standard
// deviations there would be 25.
func TestMissingIsNotInvented(t *testing.T) {
	r, invented := rand.New(rand.NewPCG(1, 2)), 0
	classes := make([]float64, schema.Classes())
	var tokens []int // no other class has a say
	for i := range classes {
		if schema.Class(i).Looks().Kind == 0 {
			tokens = append(tokens, i)
		}
	}
	for range 100_000 {
		for _, i := range tokens {
			classes[i] = 30 * r.NormFloat64()
		}
		invented += len(judgeMissing(classes, 30, leastEmpty([][]float64{classes}, 30)).missing)
	}
	if invented > 13 {
		t.Errorf("%d missing codes by noise alone", invented)
	}
}

// TestEmptyCellsOfTables: empty cells in three times their noise are missing ones in a column of a
// table where they stand out together. In a table without any, all columns together invent as few
// codes as one: of 3,000 tables of 30 columns, more than 6 have one with a probability below 1e-6.
func TestEmptyCellsOfTables(t *testing.T) {
	r, empty := rand.New(rand.NewPCG(1, 2)), schema.ClassNamed("")
	coded := func(mean float64) (columns int) {
		table := make([][]float64, 30)
		for i := range table {
			table[i] = make([]float64, schema.Classes())
			table[i][empty] = mean + 30*r.NormFloat64()
		}
		least := leastEmpty(table, 30)
		for _, classes := range table {
			columns += len(judgeMissing(classes, 30, least).missing)
		}
		return columns
	}
	invented := 0
	for range 3000 {
		invented += min(1, coded(0))
	}
	if invented > 6 {
		t.Errorf("%d tables have missing codes by noise alone", invented)
	}
	if n := coded(105); n < 20 { // 25 are expected
		t.Errorf("%d of 30 columns have a code for empty cells", n)
	}
}

// TestWholeNumbersNeverSink: whole numbers of every size are numbers, though those of four digits
// and more may be years, months, days or instants without marks. So are the few that have a point.
func TestWholeNumbersNeverSink(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	cells := map[string]func() string{}
	for power := 3; power <= 15; power++ {
		size := math.Pow10(power)
		cells[fmt.Sprintf("below 1e%d", power)] = func() string {
			return strconv.FormatInt(int64(size*r.Float64()), 10)
		}
		cells[fmt.Sprintf("about 1e%d", power)] = func() string {
			return strconv.FormatInt(int64(size*math.Exp(.6*r.NormFloat64())), 10)
		}
		cells[fmt.Sprintf("about 1e%d with .0", power)] = func() string {
			return strconv.FormatInt(int64(size*math.Exp(.6*r.NormFloat64())), 10) + ".0"
		}
	}
	for name, cell := range cells {
		for _, sigma := range []float64{3, 30, 100, 300} {
			const rows = 40_000
			classes := make([]float64, schema.Classes())
			for i := range classes {
				classes[i] = sigma * r.NormFloat64()
			}
			for range rows {
				classes[schema.Classify([]byte(cell()))]++
			}
			if v := judge("amount", classes, rows, sigma, sigma, tokenSigmas); v.kind != schema.Integer {
				t.Errorf("%s, σ = %v: %v, %s", name, sigma, v.kind, v.note)
			}
		}
	}
}
