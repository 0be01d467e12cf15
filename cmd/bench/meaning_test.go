package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/schema"
)

var binary = flag.String("decoy", "", "the program that TestMeaning runs")

// made are the rows of a table that looks like the file of a hospital, a shop or a bank: names that
// end in # are columns of codes.
func made(rows int) string {
	r := rand.New(rand.NewPCG(1, 2))
	falling := func(texts ...string) string { // each half as often as the one before it
		return texts[min(len(texts)-1, int(-math.Log2(1-r.Float64())))]
	}
	rarely := func(p float64, one, other string) string {
		if r.Float64() < p {
			return one
		}
		return other
	}
	var b strings.Builder
	b.WriteString("icd9#,icd10#,type#,zip#,band#,flag,returned,weight,stay,built,day,short,beds," +
		"income,score,temperature,price,sensor\n")
	for range rows {
		common := int(10 * r.Float64() * r.Float64())
		fmt.Fprintln(&b, strings.Join([]string{
			rarely(.02, "V45", rarely(.15, fmt.Sprintf("250.%02d", common), fmt.Sprint(400+7*common))),
			fmt.Sprintf("I%02d.%d", 20+common, common), falling("1", "3", "2", "6", "5"),
			fmt.Sprintf("%05d", 977*common), fmt.Sprintf("[%d-%d)", 10*common, 10*common+10),
			rarely(.03, "t", "f"), rarely(.2, "Yes", "No"), rarely(.9, "?", falling("low", "high")),
			fmt.Sprint(1 + common), fmt.Sprint(1950 + int(74*math.Sqrt(r.Float64()))),
			fmt.Sprintf("%d-%02d-%02d", 2019+r.IntN(3), 1+r.IntN(12), 1+r.IntN(28)),
			fmt.Sprintf("%d/%d/2021", 1+r.IntN(28), 1+r.IntN(12)),
			rarely(.1, "501", fmt.Sprint(min(500, int(math.Exp(4+r.NormFloat64()))))),
			rarely(.4, "0", fmt.Sprint(int(math.Exp(7.5+.5*r.NormFloat64())))),
			rarely(.2, "999", fmt.Sprint(r.IntN(100))),
			rarely(.15, "36.8", fmt.Sprintf("%.1f", 36.9+.6*r.NormFloat64())),
			fmt.Sprintf("%.2f", math.Exp(3+.7*r.NormFloat64())),
			fmt.Sprintf("%.3f", 20+3*r.NormFloat64())}, ","))
	}
	return b.String()
}

// TestMeaning makes synthetic tables of bare files, made ones and public ones, at ε = 1, and says
// which columns have cells that mean what no real one does.
func TestMeaning(t *testing.T) {
	if *binary == "" {
		t.Skip("runs a program: -args -decoy PROGRAM [-tables DIRECTORY]")
	}
	var paths []string
	for _, rows := range []int{2000, 20000} {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("made%d.csv", rows))
		check(os.WriteFile(path, []byte(made(rows)), 0o600))
		paths = append(paths, path)
	}
	for _, name := range strings.Split(*names, ",") {
		if *folder != "" {
			paths = append(paths, filepath.Join(*folder, name+".csv"))
		}
	}
	for _, path := range paths {
		real := columnsOf(path)
		for range *runsOf {
			out := filepath.Join(t.TempDir(), "s.csv")
			said, err := exec.Command(*binary, "generate", path, "--header-is-public", "--epsilon", "1",
				"--out", out, "--ledger", out+".ledger").CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s", path, said)
				continue
			}
			synthetic := columnsOf(out)
			for name, cells := range real {
				if why := wrong(cells, synthetic[name], strings.HasSuffix(name, "#")); why != "" {
					t.Logf("%s: %s: %s", filepath.Base(path), name, why)
				}
			}
		}
	}
}

// columnsOf are the cells of each column of a file.
func columnsOf(path string) map[string][]string {
	rows, out := readRows(path), map[string][]string{}
	for _, row := range rows[1:] {
		for i, cell := range row {
			out[rows[0][i]] = append(out[rows[0][i]], cell)
		}
	}
	return out
}

// wrong says what is wrong with a synthetic column; "" is nothing.
func wrong(real, synthetic []string, codes bool) string {
	if synthetic == nil {
		return "left out"
	}
	known := map[string]float64{}
	for _, cell := range real {
		known[cell] += 1 / float64(len(real))
	}
	share := func(cells []string, is func(string) bool) (n float64) {
		for _, cell := range cells {
			if is(cell) {
				n += 1 / float64(len(cells))
			}
		}
		return n
	}
	looks := func(want schema.Kind) func(string) bool {
		return func(cell string) bool {
			kind := schema.Classify([]byte(cell)).Looks().Kind
			return kind == want
		}
	}
	a, b := numbersOf(real), numbersOf(synthetic)
	missing := share(synthetic, looks(0))
	nowhere := share(synthetic, func(s string) bool { return known[s] == 0 && s != "(other)" })
	dates := math.Abs(share(real, looks(schema.Date)) - share(synthetic, looks(schema.Date)))
	switch {
	case missing > 0 && share(real, looks(0)) == 0:
		return fmt.Sprintf("%.1f %% missing are invented", 100*missing)
	case len(known) > 1 && len(slices.Compact(slices.Sorted(slices.Values(synthetic)))) == 1:
		return "constant"
	case dates > .02, share(real, looks(schema.Real)) == 0 && share(synthetic, looks(schema.Real)) > 0:
		return "another kind"
	case share(real, looks(schema.Date)) > 0:
	case (codes || len(a) < len(real)/2) && nowhere > .02:
		return fmt.Sprintf("%.1f %% exist nowhere", 100*nowhere)
	case codes || len(a) < len(real)/2:
	case len(b) == 0:
		return "no numbers"
	default:
		return unlike(a, b)
	}
	return ""
}

func numbersOf(cells []string) (out []float64) {
	for _, cell := range cells {
		if x, err := strconv.ParseFloat(cell, 64); err == nil {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// unlike says what is wrong with sorted synthetic numbers.
func unlike(a, b []float64) string {
	n := len(a)
	heap, most := stat.Mode(a, nil)
	below := func(x float64) float64 {
		i, _ := slices.BinarySearch(b, x)
		return float64(i) / float64(len(b))
	}
	above := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	beyond := below(a[0]) + 1 - below(above(a[n-1]))
	p, q := most/float64(n), below(above(heap))-below(heap)
	sd := stat.StdDev(a, nil)
	switch ratio := stat.StdDev(b, nil) / sd; {
	case beyond > .01:
		return fmt.Sprintf("%.1f %% are beyond %v to %v", 100*beyond, a[0], a[n-1])
	case p >= .05 && math.Abs(q/p-1) > .2:
		return fmt.Sprintf("heap %v: %.3f, %.3f", heap, p, q)
	case stat.StdDev(a[n/2000:n-n/2000], nil) > .9*sd && math.Abs(ratio-1) > .25:
		return fmt.Sprintf("spread: %.2f of it", ratio)
	}
	return ""
}
