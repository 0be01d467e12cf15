package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

var (
	folder = flag.String("tables", "", "folder of public tables, NAME.csv")
	names  = flag.String("names", "adult,bank,acs_ma2019,support2,creditcard_sub,mammography,"+
		"cervical,heart_cleveland", "tables of the folder")
	runsOf = flag.Int("runs", 60, "schemas of each table and epsilon")
)

// TestBoughtSchemas buys schemas of public tables many times over, compares each with the exact
// cells, and prints a line for each table and epsilon. Of no table may more than one schema in
// twenty have an absurd bound.
func TestBoughtSchemas(t *testing.T) {
	if *folder == "" {
		t.Skip("the public tables are not part of the module: -args -tables DIRECTORY")
	}
	for _, name := range strings.Split(*names, ",") {
		path := filepath.Join(*folder, name+".csv")
		x := readExact(path)
		for _, epsilon := range []float64{.5, 1, 3} {
			var sum bought
			for range *runsOf {
				sum.add(x.buy(path, accountant.Budget{Epsilon: epsilon, Delta: 1e-9}))
			}
			n := float64(*runsOf)
			t.Logf("| %s | %d × %d | %v | moved %.2f %% | absurd %.1f %% | wrong %.2f | left out %.1f %% | "+
				"no schema %.0f %% | filled %.1f %% | distance %.3f |", name, x.rows, len(x.names), epsilon,
				100*sum.moved/max(1, sum.numeric), 100*sum.absurd/n, sum.wrong/n,
				100*sum.left/n/float64(len(x.names)), 100*sum.none/n,
				100*sum.filled/max(1, sum.missing), sum.distance/max(1, sum.columns))
			if sum.absurd > .05*n+1 {
				t.Errorf("%s, ε = %v: %v of %v schemas have an absurd bound", name, epsilon, sum.absurd, n)
			}
		}
	}
}

// exact is what is true of a table.
type exact struct {
	names  []string
	rows   int
	number []bool      // nearly all cells that are not missing are numbers
	broken []bool      // and some of them fractions
	values [][]float64 // sorted numbers
	empty  []float64   // cells
}

// bought says how good schemas are.
type bought struct {
	moved, numeric    float64 // cells of numbers: beyond a bound, all
	absurd            float64 // 1: a bound is ten times the size of the values beyond them
	wrong, left       float64 // columns: of a wrong kind, left out
	none              float64 // 1: nothing was found
	filled, missing   float64 // empty cells: of columns without a code for them, all
	distance, columns float64 // Kolmogorov–Smirnov, of values drawn evenly within their bin
}

func (b *bought) add(o bought) {
	b.moved, b.numeric, b.absurd = b.moved+o.moved, b.numeric+o.numeric, b.absurd+o.absurd
	b.wrong, b.left, b.none = b.wrong+o.wrong, b.left+o.left, b.none+o.none
	b.filled, b.missing = b.filled+o.filled, b.missing+o.missing
	b.distance, b.columns = b.distance+o.distance, b.columns+o.columns
}

func readRows(path string) [][]string {
	f := must(os.Open(path))
	defer f.Close()
	return must(csv.NewReader(f).ReadAll())
}

func readExact(path string) *exact {
	rows := readRows(path)
	t := &exact{names: rows[0], rows: len(rows) - 1}
	for i := range t.names {
		var values []float64
		present, fractions, empty, text := 0, 0, 0., map[string]int{}
		for _, row := range rows[1:] {
			c := schema.Classify([]byte(row[i]))
			if c.Looks().Kind == 0 {
				if row[i] == "" {
					empty++
				}
				continue
			}
			present++
			x, err := strconv.ParseFloat(row[i], 64)
			if err != nil || c == schema.ClassNamed("text") {
				text[row[i]]++
				continue
			}
			values = append(values, x)
			if x != math.Floor(x) {
				fractions++
			}
		}
		// one text among numbers means missing
		if len(text) == 1 {
			for _, n := range text {
				if n < present {
					present -= n
				}
			}
		}
		slices.Sort(values)
		number := present > 0 && float64(len(values)) >= .98*float64(present)
		t.number = append(t.number, number)
		t.broken = append(t.broken, number && float64(fractions) > .005*float64(len(values)))
		t.values, t.empty = append(t.values, values), append(t.empty, empty)
	}
	return t
}

// buy buys one schema.
func (t *exact) buy(path string, b accountant.Budget) (s bought) {
	text := must(text.File(path, text.Options{Names: t.names, CSV: schema.CSV{Comma: ','}}))
	r, _, err := infer.Infer(context.Background(), text,
		infer.Inference{CSV: schema.CSV{Comma: ','}},
		infer.Run{Options: privacy.Options{Budget: b}})
	if errors.Is(err, release.ErrNothing) {
		return bought{none: 1, left: float64(len(t.names))}
	} else if err != nil {
		check(err)
		return s
	}
	got := r.Schema()
	for i, name := range t.names {
		at := got.Index(name)
		if at < 0 {
			s.left++
			continue
		}
		c := got.Columns[at]
		if s.missing += t.empty[i]; !slices.Contains(c.Missing, "") {
			s.filled += t.empty[i]
		}
		number := c.Kind == schema.Integer || c.Kind == schema.Real
		if number != t.number[i] && !(c.Kind == schema.Categorical && few(t.values[i])) {
			s.wrong++
		} else if c.Kind == schema.Integer && t.broken[i] {
			s.wrong++
		}
		if !number || !t.number[i] {
			continue
		}
		v := t.values[i]
		lo, _ := slices.BinarySearch(v, c.Min)
		hi, _ := slices.BinarySearchFunc(v, c.Max, func(x, max float64) int {
			if x <= max {
				return -1
			}
			return 1
		})
		d := distance(c, v)
		s.distance, s.columns = s.distance+d, s.columns+1
		moved := float64(lo + len(v) - hi)
		s.moved += moved
		s.numeric += float64(len(v))
		size := max(v[len(v)-1]-v[0], math.Abs(v[0]), math.Abs(v[len(v)-1]), 1)
		if c.Max > v[len(v)-1]+10*size || c.Min < v[0]-10*size {
			s.absurd = 1
		}
	}
	return s
}

// few reports that a column of numbers may as well be of categories.
func few(sorted []float64) bool { return len(slices.Compact(slices.Clone(sorted))) <= 32 }

// distance is the largest difference of the shares of values up to any point, between the values
// and draws that are even within each bin of the column.
func distance(c schema.Column, sorted []float64) float64 {
	one := schema.Schema{Lenient: true, Columns: []schema.Column{c}}
	codecs := must(one.Codecs())
	random := rand.New(rand.NewPCG(1, 0))
	drawn := make([]float64, 0, len(sorted))
	for _, x := range sorted {
		code := must(codecs[0].EncodeText(strconv.AppendFloat(nil, x, 'f', -1, 64)))
		if v := codecs[0].Decode(code, random); !v.Missing { // a value may also be a token
			drawn = append(drawn, v.Float+float64(v.Int))
		}
	}
	slices.Sort(drawn)
	return stat.KolmogorovSmirnov(sorted, nil, drawn, nil)
}
