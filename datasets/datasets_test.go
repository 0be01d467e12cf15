package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func get(t *testing.T, name string) (Dataset, *schema.Schema) {
	t.Helper()
	d := stattest.Must(Get(name))
	s := stattest.Must(d.Schema())
	return d, s
}

func TestNames(t *testing.T) {
	names := Names()
	if len(names) != 11 {
		t.Errorf("%d names, want 11", len(names))
	}
	if !slices.IsSorted(names[:3]) || !slices.IsSorted(names[3:]) {
		t.Errorf("not in order: %v", names)
	}
	for i, name := range names {
		d := stattest.Must(Get(name))
		if d.Name != name || d.Embedded != (i < 3) {
			t.Errorf("Get(%q) gave %q, embedded %v", name, d.Name, d.Embedded)
		}
		if d.Title == "" || d.Description == "" || d.Origin == "" || d.Licence == "" ||
			len(d.SHA256) != 64 {
			t.Errorf("%s: a field is empty", name)
		}
	}
}

func TestUnknownName(t *testing.T) {
	for _, c := range []struct{ name, asked, suggested string }{
		{"one letter off", "adlt", `did you mean "adult"?`},
		{"another separator", "icu_mortality", `did you mean "icu-mortality"?`},
		{"nothing like it", "weather", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Get(c.asked)
			if !errors.Is(err, ErrUnknown) {
				t.Fatalf("error %v, want ErrUnknown", err)
			}
			if !strings.Contains(err.Error(), c.suggested) || strings.Contains(err.Error(),
				"did you mean") != (c.suggested != "") {
				t.Errorf("error %q, want it to suggest %q", err, c.suggested)
			}
			for _, name := range Names() {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("error %q does not list %s", err, name)
				}
			}
		})
	}
}

func TestGetGivesACopy(t *testing.T) {
	d, _ := get(t, "support2")
	d.DropForPrediction[0] = "changed"
	if again, _ := get(t, "support2"); again.DropForPrediction[0] == "changed" {
		t.Error("a caller can change the list of columns to drop")
	}
	m, _ := get(t, "icu-mortality")
	m.CSV()[0] = '!'
	if m.CSV()[0] == '!' {
		t.Error("a caller can change the embedded rows")
	}
}

// TestEmbeddedStays: the rows in the binary are those that the simulation drew, byte for byte.
func TestEmbeddedStays(t *testing.T) {
	for _, d := range cohorts {
		if sum := sha256.Sum256(d.CSV()); hex.EncodeToString(sum[:]) != d.SHA256 {
			t.Errorf("%s: the checksum is %x", d.Name, sum)
		}
	}
}

func TestEmbeddedSize(t *testing.T) {
	var total int64
	stattest.Check(t, fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}))
	if total > 500_000 {
		t.Errorf("%d bytes are embedded, want at most 500,000", total)
	}
}

// TestSchemas: every schema parses, survives its canonical form, and agrees with its entry.
func TestSchemas(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			d, s := get(t, name)
			canonical := stattest.Must(s.YAML())
			again := stattest.Must(schema.Parse(canonical))
			if again.Fingerprint() != s.Fingerprint() {
				t.Error("the canonical form is another schema")
			}
			i := s.Index(d.Label)
			if i < 0 || s.Columns[i].Kind != schema.Categorical || !slices.Contains(s.Columns[i].Categories,
				d.Positive) {
				t.Errorf("%q is not a category of a column %q", d.Positive, d.Label)
			}
			for _, drop := range d.DropForPrediction {
				if s.Index(drop) < 0 || drop == d.Label {
					t.Errorf("column %q to drop: not there, or the label", drop)
				}
			}
			for i, c := range s.Columns {
				for _, token := range c.Missing {
					if slices.Contains(c.Categories, token) {
						t.Errorf("%s: %q is a category and means missing", c.Name, token)
					}
				}
				if n := s.Sizes()[i]; c.Kind != schema.Categorical && n > 33 {
					t.Errorf("%s: %d codes, want at most 32 and missing", c.Name, n)
				}
			}
		})
	}
}

// check compares the rows with the entry.
func check(t *testing.T, d Dataset, rows *table.Table) {
	t.Helper()
	if rows.Rows() != d.Rows {
		t.Errorf("%d rows, want %d", rows.Rows(), d.Rows)
	}
	s := rows.Schema()
	label := s.Index(d.Label)
	counts := rows.Counts(label)
	positive := slices.Index(s.Columns[label].Categories, d.Positive)
	rate := float64(counts[positive]) / float64(rows.Rows())
	if diff := rate - d.Rate; diff > 5.1e-5 || diff < -5.1e-5 {
		t.Errorf("rate %.5f, want %.4f", rate, d.Rate)
	}
}

func TestEmbeddedTables(t *testing.T) {
	for _, c := range []struct {
		name                      string
		rows, features, positives int
	}{
		{"icu-mortality", 2085, 11, 131},
		{"icu-severity", 2119, 33, 496},
		{"icu-readmission", 1719, 6, 52},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, s := get(t, c.name)
			rows := stattest.Must(d.Table())
			check(t, d, rows)
			if rows.Rows() != c.rows || len(s.Columns) != c.features+1 {
				t.Errorf("%d × %d features, want %d × %d", rows.Rows(), len(s.Columns)-1, c.rows, c.features)
			}
			counts := rows.Counts(s.Index(d.Label))
			if counts[1] != int64(c.positives) {
				t.Errorf("%d positive, want %d", counts[1], c.positives)
			}
			for i, col := range s.Columns {
				if len(col.Missing) == 0 {
					continue
				}
				n := rows.Counts(i)
				if share := float64(n[len(n)-1]) / float64(c.rows); share < .02 || share > .4 {
					t.Errorf("%s: %.3f missing, want .02 to .4", col.Name, share)
				}
			}
		})
	}
}

func TestCatalogueHasNoRows(t *testing.T) {
	d, _ := get(t, "adult")
	if d.CSV() != nil {
		t.Error("adult has rows")
	}
	if _, err := d.Table(); !errors.Is(err, ErrNotEmbedded) || !strings.Contains(err.Error(),
		d.Origin) {
		t.Errorf("error %v, want ErrNotEmbedded and the origin", err)
	}
}

func TestDatasetMadeByHandPanics(t *testing.T) {
	stattest.Panics(t, func() { Dataset{Name: "mine"}.SchemaYAML() }, "")
}
