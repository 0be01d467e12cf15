package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// fineCells is how many cells of about equal counts the numbers of a real column are compared in.
// A value that has more rows is a cell of its own.
const fineCells = 64

// binned compares the numbers of public tables with those that are drawn, under four schemas that
// differ in the bins of numbers only: good public edges, those of datasets/catalogue; as many
// quantiles of the real values; none, so that bins are bought; 32 of equal width. It prints a line
// for each table, method and schema: the mean over columns of numbers of the total variation
// distance over fineCells cells of the real values (and missing), of the Kolmogorov–Smirnov
// distance of the values themselves, and of the difference of the means in standard deviations;
// with -columns the same of each column.
func binned(args []string) {
	f := flag.NewFlagSet("bins", flag.ExitOnError)
	parse := folderOf(f, "adult,bank,support2,creditcard_sub")
	variants := f.String("variants", "mst,aim", "methods, each with its settings")
	kinds := f.String("bins", "good,quantiles,bought,equal", "bins of numbers")
	epsilon := f.Float64("epsilon", 1, "budget, at a delta of 1e-9")
	runs := runsOf(f, 3)
	each := f.Bool("columns", false, "print a line for each column too")
	oracle := f.Bool("oracle", false, "draw the values of a bin from the real ones in it, not from "+
		"the model: what is left is the error of the bins' counts")
	dir, names := parse(args)
	fmt.Printf("%-16s %-22s %-8s %9s %9s %9s %9s %8s\n", "table", "variant", "bins", "one-way", "KS",
		"mean", "two-way", "CPU")
	for _, name := range names {
		path := filepath.Join(dir, name+".csv")
		real := readExact(path)
		for _, variant := range split(*variants) {
			fitter := must(fitterOf(variant))
			for _, kind := range strings.Split(*kinds, ",") {
				s := real.withBins(name, kind, fitter)
				sums := map[string][5]float64{}
				for range *runs {
					real.compare(path, name, s, fitter, *epsilon, *oracle, func(column string, x [5]float64) {
						sum := sums[column]
						for i := range x {
							sum[i] += x[i] / float64(*runs)
						}
						sums[column] = sum
					})
				}
				fmt.Printf("%-16s %-22s %-8s %s\n", name, variant, kind, figures(sums[""]))
				for i, c := range real.names {
					if x, ok := sums[c]; ok && *each && real.number[i] {
						fmt.Printf("  %-37s %-8s %s\n", c, kind, figures(x))
					}
				}
			}
		}
	}
}

func figures(x [5]float64) string {
	return fmt.Sprintf("%9.4f %9.4f %9.4f %9.4f %8.1f", x[0], x[1], x[2], x[3], x[4])
}

// withBins is the public schema of a table with other bins of numbers.
func (t *exact) withBins(name, kind string, f synth.Fitter) *schema.Schema {
	d := must(datasets.Get(name))
	s, err := d.Schema()
	if err != nil || kind == "good" {
		check(err)
		return s
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; len(c.Edges) > 0 {
			c.Min, c.Max, c.Edges = c.Edges[0], c.Edges[len(c.Edges)-1], nil
		} else if c.Kind.Ordered() {
			c.Bins, c.Spacing = 0, schema.Linear
		}
	}
	switch kind {
	case "quantiles":
		for i := range s.Columns {
			at := slices.Index(t.names, s.Columns[i].Name)
			if c := &s.Columns[i]; c.Kind.Ordered() && c.Max-c.Min > 100 || c.Kind == schema.Real {
				c.Edges, c.Decimals = quantiles(t.values[at], c.Min, c.Max), 0
			}
		}
		check(s.Validate())
		return s
	case "bought":
		return synth.Adaptive(f, s)
	case "equal":
	default:
		check(fmt.Errorf("-bins: %q is not good, quantiles, bought or equal", kind))
	}
	return s
}

// quantiles are the edges of 32 bins of equal counts, or fewer where values are heavy: then these
// have bins of their own.
func quantiles(sorted []float64, least, most float64) []float64 {
	edges, n := []float64{least}, len(sorted)
	add := func(x float64) {
		if x > edges[len(edges)-1] && x < most {
			edges = append(edges, x)
		}
	}
	for i := 0; i < n; {
		j := i + sort.Search(n-i, func(k int) bool { return sorted[i+k] > sorted[i] })
		if i*32/n != j*32/n {
			add(sorted[i])
		}
		if (j-i)*32 >= n && j < n {
			add(min(sorted[i]+1, sorted[j]))
		}
		i = j
	}
	return append(edges, most)
}

// compare fits and draws once, and tells the figures of each column of numbers, and their mean as
// of column "".
func (t *exact) compare(
	path, name string, s *schema.Schema, f synth.Fitter, epsilon float64, oracle bool,
	tell func(string, [5]float64),
) {
	used := cpu()
	rows := readTable(path, s)
	m := fitted(rows, f, accountant.Budget{Epsilon: epsilon, Delta: 1e-9})
	drawn := drawnFrom(m, t.rows)
	used = cpu() - used
	codecs := must(m.RowCodec()).Codecs()
	pairs := t.twoWay(path, name, drawn, codecs)
	var mean [5]float64
	count := 0.0
	for i, name := range t.names {
		at := s.Index(name)
		if !t.number[i] || at < 0 || !s.Columns[at].Kind.Ordered() {
			continue
		}
		var values []float64
		codes, random := drawn.Column(at), rand.New(rand.NewPCG(1, 0))
		inside := map[uint16][]float64{}
		for _, x := range t.values[i] {
			code, err := codecs[at].EncodeValue(schema.StoredFloat, schema.Value{Float: x})
			if err == nil && oracle {
				inside[code] = append(inside[code], x)
			}
		}
		for r := range drawn.Rows() {
			v := codecs[at].Decode(codes.At(r), random)
			if of := inside[codes.At(r)]; len(of) > 0 && !v.Missing {
				values = append(values, of[random.IntN(len(of))])
			} else if !v.Missing {
				values = append(values, v.Float+float64(v.Int))
			}
		}
		slices.Sort(values)
		x := compared(t.values[i], values, t.rows)
		x[3], x[4] = pairs, used
		tell(name, x)
		for k := range x {
			mean[k] += x[k]
		}
		count++
	}
	for k := range mean {
		mean[k] /= count
	}
	tell("", mean)
}

// twoWay is the mean total variation distance of all pairs in the good bins.
func (t *exact) twoWay(
	path, name string, drawn *table.Table, codecs []*schema.Codec,
) float64 {
	s := t.withBins(name, "good", nil)
	real := readTable(path, s)
	good := must(s.Codecs())
	random, cols := rand.New(rand.NewPCG(1, 0)), make([]table.Codes, len(good))
	for i, codec := range good {
		codes, kind := drawn.Column(i), s.Columns[i].Kind
		if cols[i] = codes; !kind.Ordered() {
			continue
		}
		cols[i] = table.NewCodes(codec.Size(), drawn.Rows())
		for r := range drawn.Rows() {
			v := codecs[i].Decode(codes.At(r), random)
			code, err := codec.EncodeValue(kind.Stored(), v)
			if v.Missing {
				code, err = codec.EncodeMissing()
			}
			check(err)
			cols[i].Set(r, code)
		}
	}
	syn := must(table.FromColumns(s, cols, nil))
	return must(eval.MarginalError(real, syn, 2))
}

// compared are the distances of two sorted lists out of as many rows, in which what is not there is
// missing.
func compared(real, drawn []float64, rows int) (out [5]float64) {
	if len(drawn) == 0 {
		return [5]float64{1, 1, 0, 0, 0}
	}
	upTo := func(x []float64, v float64) float64 {
		return float64(sort.Search(len(x), func(i int) bool { return x[i] > v }))
	}
	n := float64(rows)
	last, cells := [2]float64{}, math.Abs(float64(len(real)-len(drawn)))/n
	add := func(v float64) {
		now := [2]float64{upTo(real, v) / n, upTo(drawn, v) / n}
		cells += math.Abs(now[0] - last[0] - now[1] + last[1])
		last = now
	}
	share := float64(len(real)) / fineCells
	for i := 0; i < len(real); {
		j := int(upTo(real, real[i]))
		heavy := float64(j-i) >= share
		if heavy {
			add(math.Nextafter(real[i], math.Inf(-1)))
		}
		if heavy || float64(j)-last[0]*n >= share {
			add(real[i])
		}
		i = j
	}
	add(math.Inf(1))
	out[0], out[1] = cells/2, stat.KolmogorovSmirnov(real, nil, drawn, nil)
	mean, deviation := stat.PopMeanStdDev(real, nil)
	out[2] = math.Abs(mean-stat.Mean(drawn, nil)) / max(deviation, math.SmallestNonzeroFloat64)
	return out
}
