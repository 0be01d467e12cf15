// Package datasets holds example tables: three simulated intensive care cohorts, embedded, and a
// catalogue of public tables with where to find them, a checksum and a schema.
//
// # The cohorts
//
//	name             rows   columns                            outcome      positive
//	icu-mortality    2085   11: 6 scores and values, 5         mortality    131 (6.28 %)
//	                        demographic categories
//	icu-severity     2119   33: 31 scores, 2 categories        mortality    496 (23.41 %)
//	icu-readmission  1719   6: values                          readmission   52 (3.03 %)
//
// The outcome is a column besides those counted, so that the files have 12, 34 and 7 columns. The
// shapes and the rates are those of the cohorts in J. Pedersen's thesis "Privacy preservation and
// evaluation in machine learning" (RPI 2022, table 3.2). No row comes from a patient: every one is
// drawn by a program that has seen no data. Its constants were written down by hand from what is
// commonly known of intensive care. The files do not change, so the program is in the history only:
// git show 6184642:datasets/internal/cohort lists it, and a test holds the checksums.
//
// The model, with every z an independent standard variable (mean 0, variance 1):
//
//	age       64.5 + 16.5 z, reflected into 18–89;    a = (age - 64)/16
//	sex, ethnicity, insurance, marital status         categorical, given age and sex
//	c         = .45 a + .9 z                          comorbidity
//	s         = m + .25 a + .25 c + .85 z + admission severity; m is the cohort's
//	organ     = .62 s + .78 z                         lung, liver, heart, brain, kidney (+ .2 c);
//	                                                  blood, inflammation, acid mix s with organs
//	value     = g(a + b·organs + σ z)                 g = identity or exp, rounded as it is charted
//	score     = the published point tables            APACHE II, SOFA, SAPS II, OASIS, LODS,
//	                                                  SIRS, qSOFA
//	η         = weighted scores, values, demographics
//	P(y = 1)  = 1 / (1 + exp(-(β₀ + η)))              β₀: the number of positives is exact
//
// So the scores agree with each other as real ones do (gcs is the sum of its three parts, sofa of
// six organs, apache_ii of its items), a demographic column says something about age, age about
// severity, and all of it about the outcome. Lactate, bilirubin and blood gases are missing more
// often in those who are less ill; ethnicity, marital status and glucose are missing at random.
// Ethnicity and sex have no effect of their own on the outcome.
//
// The area under the ROC curve of a logistic regression, trained on 60 % of the rows and tested on
// the other 40 % (scikit-learn 1.9.1, median of the missing with an indicator, standardised,
// one-hot; mean ± standard deviation over 50 stratified splits): icu-mortality .775 ± .025,
// icu-severity .745 ± .016, icu-readmission .746 ± .041.
//
// The bins of the schemas are round numbers chosen for tables of two thousand rows, where a cell
// must hold many rows to stand out of the noise. The bounds are those of the score or of what can
// be measured, not of the rows.
//
// # The catalogue
//
// The catalogue's tables are public and not part of this module; Dataset.Origin says where they
// are. Their schemas were checked against the file with the checksum Dataset.SHA256:
//
//	go test ./datasets -args -tables DIRECTORY
//
// Bounds and categories are those which the files are known to have. That is right for public
// tables and would be a leak for private ones; the edges of bins are round numbers all the same,
// but for narrow bins where values heap.
package datasets

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/spelling"
)

//go:embed cohorts catalogue
var files embed.FS

// ErrUnknown is wrapped by the error for a name that is not in Names.
var ErrUnknown = errors.New("unknown data set")

// ErrNotEmbedded is wrapped by the error of Table for a data set of the catalogue.
var ErrNotEmbedded = errors.New("not embedded")

// A Dataset describes one table. The caller owns it.
type Dataset struct {
	Name        string
	Title       string // a line
	Description string // a few sentences
	Rows        int
	Label       string // the column that is to be predicted, always categorical
	Positive    string // its positive category
	// share of the rows whose label is Positive, missing labels counted as rows, to four digits
	Rate float64

	Embedded bool   // the rows are part of this module: CSV and Table give them
	Origin   string // where the rows come from: an address, or the program that draws them
	Licence  string // as far as stated there
	SHA256   string // hexadecimal checksum of the CSV file

	// DropForPrediction names the columns that give the label away, or are known only after it; leave
	// them out when predicting.
	DropForPrediction []string
}

// Names lists the data sets: the embedded ones, then the catalogue, each in alphabetical order.
func Names() []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Get gives the named data set. The error for another name wraps ErrUnknown, and suggests the
// closest.
func Get(name string) (Dataset, error) {
	for _, d := range all {
		if d.Name == name {
			d.DropForPrediction = slices.Clone(d.DropForPrediction)
			return d, nil
		}
	}
	names := Names()
	if near := spelling.Nearest(name, names); near != "" {
		return Dataset{}, fmt.Errorf("%w %q: did you mean %q? there are %s", ErrUnknown, name,
			near, strings.Join(names, ", "))
	}
	return Dataset{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(names,
		", "))
}

// SchemaYAML gives the schema file, with its comment.
func (d Dataset) SchemaYAML() []byte {
	dir := "catalogue"
	if d.Embedded {
		dir = "cohorts"
	}
	return d.file(dir, ".yaml")
}

// Schema parses SchemaYAML.
func (d Dataset) Schema() (*schema.Schema, error) {
	s, err := schema.Parse(d.SchemaYAML())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	return s, nil
}

// CSV gives the rows of an embedded data set, with a header line, and nil for the others.
func (d Dataset) CSV() []byte {
	if !d.Embedded {
		return nil
	}
	return d.file("cohorts", ".csv")
}

// file gives a copy of an embedded file. It is there for every Dataset that Get gives; one made by
// hand panics.
func (d Dataset) file(dir, extension string) []byte {
	b, err := files.ReadFile(dir + "/" + d.Name + extension)
	if err != nil {
		panic("datasets: " + d.Name + " did not come from Get")
	}
	return b
}
