package cohort

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

func TestShapes(t *testing.T) {
	want := []struct {
		name                      string
		rows, features, positives int
	}{
		{"icu-mortality", 2085, 11, 131},
		{"icu-severity", 2119, 33, 496},
		{"icu-readmission", 1719, 6, 52},
	}
	tables := Tables()
	if len(tables) != len(want) {
		t.Fatalf("%d tables, want %d", len(tables), len(want))
	}
	for i, w := range want {
		got := tables[i]
		positives := 0
		for _, r := range got.Rows {
			if len(r) != len(got.Header) {
				t.Fatalf("%s: a row of %d cells under a header of %d", w.name, len(r), len(got.Header))
			}
			if r[len(r)-1] == "1" {
				positives++
			}
		}
		if got.Name != w.name || len(got.Rows) != w.rows || len(got.Header) != w.features+1 ||
			positives != w.positives {
			t.Errorf("%s: %d rows, %d features, %d positive; want %+v", got.Name, len(got.Rows),
				len(got.Header)-1, positives, w)
		}
	}
}

// TestMargin is the proof that the tables are the same on every machine: no decision was nearer
// than 1e-9 to tipping over, which is a thousand times what the arithmetic of two processors may
// differ by.
func TestMargin(t *testing.T) {
	for _, table := range Tables() {
		if !(table.Margin > 1e-9) {
			t.Errorf("%s: margin %g; take another seed", table.Name, table.Margin)
		}
	}
}

// TestMarginIsNoted shows that every kind of decision is seen by the margin.
func TestMarginIsNoted(t *testing.T) {
	for name, decide := range map[string]func(*source){
		"round": func(s *source) { s.round(2.5-1e-12, 0, 9) },
		"below": func(s *source) { s.below(1, 1+1e-12) },
		"step":  func(s *source) { s.step(3, 1, 2, 3-1e-12) },
		"chance": func(s *source) {
			twin := newSource(1, 2)
			s.chance(twin.logistic() + 1e-12)
		},
		"pick": func(s *source) {
			u := newSource(1, 2).uniform()
			s.pick(u-1e-12, 1-u+1e-12)
		},
	} {
		s := newSource(1, 2)
		if decide(s); !(s.margin < 1e-11) {
			t.Errorf("%s: margin %g after a decision at 1e-12", name, s.margin)
		}
	}
}

func TestDecisions(t *testing.T) {
	s := newSource(1, 2)
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"round down", s.round(2.4, 0, 9), 2},
		{"round up", s.round(2.6, 0, 9), 3},
		{"round a negative", s.round(-2.6, -9, 9), -3},
		{"round below the range", s.round(-2.6, 0, 9), 0},
		{"round above the range", s.round(12, 0, 9), 9},
		{"step before all", s.step(0, 1, 2), 0},
		{"step between", s.step(1.5, 1, 2), 1},
		{"step behind all", s.step(3, 1, 2), 2},
		{"pick the only one that weighs", s.pick(0, 1, 0), 1},
		{"pick the last", s.pick(0, 0, 1), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

// TestNormal: null: mean 0, variance 1, kurtosis 2.9. With n = 200,000 draws the standard errors
// are 1/√n, √(1.9/n) and about √(90/n); 4.9 of them are a false alarm of 1e-6 (and the seed is
// fixed). A scale wrong by 30 % is 250 of them away.
func TestNormal(t *testing.T) {
	const n = 200_000
	moments := func(scale float64) (mean, variance, kurtosis float64) {
		s := newSource(7, 7)
		var m1, m2, m4 float64
		for range n {
			z := scale * s.normal()
			m1 += z
			m2 += z * z
			m4 += z * z * z * z
		}
		return m1 / n, m2 / n, m4 / n
	}
	fits := func(scale float64) bool {
		mean, variance, kurtosis := moments(scale)
		return math.Abs(mean) < 4.9/math.Sqrt(n) && math.Abs(variance-1) < 4.9*math.Sqrt(1.9/n) &&
			math.Abs(kurtosis-2.9) < 4.9*math.Sqrt(90./n)
	}
	if !fits(1) {
		mean, variance, kurtosis := moments(1)
		t.Errorf("moments %g, %g, %g; want 0, 1, 2.9", mean, variance, kurtosis)
	}
	if fits(1.3) || fits(.7) {
		t.Error("a scale wrong by 30 % was not rejected")
	}
}

// TestPublishedPoints spot-checks the point tables at the edges that the papers print.
func TestPublishedPoints(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"APACHE II, 41.0 °C", apacheTemperature.of(410), 4},
		{"APACHE II, 38.4 °C", apacheTemperature.of(384), 0},
		{"APACHE II, 35.9 °C", apacheTemperature.of(359), 1},
		{"APACHE II, 29.9 °C", apacheTemperature.of(299), 4},
		{"APACHE II, mean pressure 109", apacheMeanBP.of(109), 0},
		{"APACHE II, mean pressure 49", apacheMeanBP.of(49), 4},
		{"APACHE II, heart rate 140", apacheHeartRate.of(140), 3},
		{"APACHE II, pH 7.33", apachePH.of(733), 0},
		{"APACHE II, pH 7.14", apachePH.of(714), 4},
		{"APACHE II, sodium 119", apacheSodium.of(119), 3},
		{"APACHE II, potassium 2.9", apachePotassium.of(29), 2},
		{"APACHE II, creatinine 1.5", apacheCreatinine.of(15), 2},
		{"APACHE II, white cells 14.9", apacheWhiteCells.of(149), 0},
		{"APACHE II, 75 years", apacheAge.of(75), 6},
		{"SOFA, platelets 149", sofaCoagulation.of(149), 1},
		{"SOFA, bilirubin 12.0", sofaLiver.of(120), 4},
		{"SOFA, coma 13", sofaCNS.of(13), 1},
		{"SOFA, creatinine 5.0", sofaCreatinine.of(50), 4},
		{"SOFA, urine 499", sofaUrine.of(499), 3},
		{"SAPS II, 79 years", sapsAge.of(79), 16},
		{"SAPS II, heart rate 39", sapsHeartRate.of(39), 11},
		{"SAPS II, systolic 69", sapsSystolicBP.of(69), 13},
		{"SAPS II, urea nitrogen 84", sapsBUN.of(84), 10},
		{"SAPS II, white cells 0.9", sapsWhiteCells.of(9), 12},
		{"SAPS II, bicarbonate 19", sapsBicarbonate.of(19), 3},
		{"SAPS II, coma 5", sapsGCS.of(5), 26},
		{"OASIS, 24 years", oasisAge.of(24), 3},
		{"OASIS, coma 7", oasisGCS.of(7), 10},
		{"OASIS, respiratory rate 5", oasisRespRate.of(5), 10},
		{"LODS, coma 5", lodsGCS.of(5), 5},
		{"LODS, urea nitrogen 56", lodsBUN.of(56), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d points, want %d", c.name, c.got, c.want)
		}
	}
}

// TestScoreRanges: a well patient of 30 scores next to nothing, and one in ruins what the worst of
// each item adds up to.
func TestScoreRanges(t *testing.T) {
	well := patient{
		age: 30, heartRate: 75, meanBP: 85, systolicBP: 120, respRate: 14, temperature: 366, eye: 4,
		verbal: 5, motor: 6, fio2: 21,
		pao2fio2: 450, ph: 740, bicarbonate: 24, sodium: 140, potassium: 40, creatinine: 9, bun: 12,
		urine: 2600, bilirubin: 6,
		platelets: 250, whiteCells: 70, haematocrit: 40, hoursBefore: 10, admission: scheduledSurgical,
		gasTaken: true, bilirubinTaken: true,
	}
	ruined := patient{
		age: 89, aids: true, heartRate: 20, meanBP: 20, systolicBP: 30, respRate: 5, temperature: 290,
		eye: 1, verbal: 1, motor: 1,
		ventilated: true, pressors: 3, fio2: 100, pao2fio2: 40, ph: 690, bicarbonate: 10, sodium: 105,
		potassium: 20, creatinine: 60,
		bun: 100, urine: 100, bilirubin: 200, platelets: 10, whiteCells: 5, haematocrit: 15,
		hoursBefore: 0,
		admission:   unscheduledSurgical, gasTaken: true, bilirubinTaken: true,
	}
	for _, c := range []struct {
		name         string
		score        func(*patient) int
		well, ruined int
	}{
		{"sofa", (*patient).sofa, 0, 24},
		{"apache_ii", (*patient).apacheII, 0, 67}, // 11 items of 4, coma 12, age 6, chronic 5
		{"sapsii", (*patient).sapsII, 0, 160},     // 163 less the fever
		{"oasis", (*patient).oasis, 3, 5 + 9 + 10 + 4 + 4 + 10 + 3 + 10 + 9 + 6},
		{"lods", (*patient).lods, 0, 22},
		{"qsofa", (*patient).qsofa, 0, 2},
		{"sirs", (*patient).sirs, 0, 2},
	} {
		if got := c.score(&well); got != c.well {
			t.Errorf("%s of the well: %d, want %d", c.name, got, c.well)
		}
		if got := c.score(&ruined); got != c.ruined {
			t.Errorf("%s of the ruined: %d, want %d", c.name, got, c.ruined)
		}
	}
}

// TestIdentities: the totals of icu-severity are the sums of their parts, a missing part counting
// 0.
func TestIdentities(t *testing.T) {
	table := simulate(severity)
	at := map[string]int{}
	for i, name := range table.Header {
		at[name] = i
	}
	for _, row := range table.Rows {
		value := func(name string) int {
			cell := row[at[name]]
			if cell == "" {
				return 0
			}
			n, err := strconv.Atoi(cell)
			if err != nil {
				t.Fatalf("%s: not an integer", name)
			}
			return n
		}
		sum := func(prefix string, names ...string) (n int) {
			for _, name := range names {
				n += value(prefix + name)
			}
			return n
		}
		if value("gcs") != sum("gcs_", "eye", "verbal", "motor") {
			t.Fatal("gcs is not the sum of its parts")
		}
		if value("sofa") != sum("sofa_", "respiration", "coagulation", "liver", "cardiovascular", "cns",
			"renal") {
			t.Fatal("sofa is not the sum of its parts")
		}
		if value("sofa_cns") != sofaCNS.of(value("gcs")) {
			t.Fatal("sofa_cns does not follow from gcs")
		}
		if value("apache_ii") != 15-value("gcs")+sum("apache_", "temperature", "mean_bp", "heart_rate",
			"resp_rate", "oxygenation", "ph",
			"sodium", "potassium", "creatinine", "haematocrit", "white_cells", "age", "chronic") {
			t.Fatal("apache_ii is not the sum of its items")
		}
	}
}

func TestScaleWithoutLastBand(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	scale{{10, 1}}.of(10)
}

func TestScalesIncrease(t *testing.T) {
	for i, s := range []scale{
		apacheTemperature, apacheMeanBP, apacheHeartRate, apacheRespRate, apacheGradient, apachePaO2,
		apachePH, apacheSodium, apachePotassium,
		apacheCreatinine, apacheHaematocrit, apacheWhiteCells, apacheAge, sofaCoagulation, sofaLiver,
		sofaCNS, sofaCreatinine, sofaUrine,
		sofaLung, sapsAge, sapsHeartRate, sapsSystolicBP, sapsTemperature, sapsLung, sapsUrine, sapsBUN,
		sapsWhiteCells, sapsPotassium,
		sapsSodium, sapsBicarbonate, sapsBilirubin, sapsGCS, oasisHours, oasisAge, oasisGCS,
		oasisHeartRate, oasisMeanBP, oasisRespRate,
		oasisTemperature, oasisUrine, lodsGCS, lodsSystolicBP, lodsHeartRate, lodsUrine, lodsBUN,
		lodsCreatinine, lodsLung, lodsWhiteCells,
	} {
		last := math.MinInt
		for _, b := range s {
			if b.below <= last {
				t.Errorf("scale %d: limit %d after %d", i, b.below, last)
			}
			last = b.below
		}
		if last != above {
			t.Errorf("scale %d: no last band", i)
		}
	}
}

func ExampleTables() {
	for _, t := range Tables() {
		fmt.Printf("%s: %d × %d, β₀ = %.2f\n", t.Name, len(t.Rows), len(t.Header), t.Intercept)
	}
	// Output:
	// icu-mortality: 2085 × 12, β₀ = -5.79
	// icu-severity: 2119 × 34, β₀ = -3.49
	// icu-readmission: 1719 × 7, β₀ = -5.50
}
