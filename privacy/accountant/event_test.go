package accountant

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// every has one of each event, and every one that is added belongs here.
var every = Composition{
	{Gaussian{3.7}, 15}, {SubsampledGaussian{.01, 1.1}, 1000}, {Laplace{.1}, 2},
	{Exponential{.25}, 14}, {Approx{.5, 1e-9}, 1}, {GDPFilter{.27}, 1},
}

func TestCompositionJSON(t *testing.T) {
	b := stattest.Must(json.Marshal(every))
	const want = `[{"event":"gaussian","noise_multiplier":3.7,"count":15},` +
		`{"event":"subsampled-gaussian","rate":0.01,"noise_multiplier":1.1,"count":1000},` +
		`{"event":"laplace","epsilon":0.1,"count":2},{"event":"exponential","epsilon":0.25,"count":14},{"event":"approx","epsilon":0.5,"delta":1e-9,"count":1},` +
		`{"event":"pool","mu":0.27,"count":1}]`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	var back Composition
	stattest.Check(t, json.Unmarshal(b, &back))
	if len(back) != len(every) {
		t.Fatalf("%v, want %v", back, every)
	}
	for i := range back {
		if back[i] != every[i] {
			t.Errorf("%v, want %v", back[i], every[i])
		}
	}
	var spaced Composition
	if err := json.Unmarshal([]byte(" [ {\"event\": \"laplace\",\t\"epsilon\":0.1, \"count\": 2} ]"),
		&spaced); err != nil || spaced[0] != every[2] {
		t.Errorf("with white space: %v, %v", spaced, err)
	}
}

func TestCompositionJSONIsStrict(t *testing.T) {
	for name, text := range map[string]string{
		"unknown event":         `[{"event":"cauchy","epsilon":1,"count":1}]`,
		"no event":              `[{"epsilon":1,"count":1}]`,
		"pool without mu":       `[{"event":"pool","epsilon":1,"count":1}]`,
		"pool with more":        `[{"event":"pool","mu":1,"epsilon":1,"count":1}]`,
		"unknown key":           `[{"event":"laplace","epsilon":1,"count":1,"sigma":2}]`,
		"key of another event":  `[{"event":"laplace","epsilon":1,"noise_multiplier":2,"count":1}]`,
		"missing parameter":     `[{"event":"subsampled-gaussian","noise_multiplier":2,"count":1}]`,
		"other parameter":       `[{"event":"gaussian","epsilon":2,"count":1}]`,
		"missing count":         `[{"event":"laplace","epsilon":1}]`,
		"repeated key":          `[{"event":"laplace","epsilon":1,"epsilon":0.1,"count":1}]`,
		"upper case key":        `[{"event":"laplace","Epsilon":1,"count":1}]`,
		"null":                  `[{"event":"laplace","epsilon":null,"count":1}]`,
		"null charge":           `[null]`,
		"number as text":        `[{"event":"laplace","epsilon":"1","count":1}]`,
		"fractional count":      `[{"event":"laplace","epsilon":1,"count":1.5}]`,
		"count 0":               `[{"event":"laplace","epsilon":1,"count":0}]`,
		"negative count":        `[{"event":"laplace","epsilon":1,"count":-1}]`,
		"negative ε":            `[{"event":"laplace","epsilon":-1,"count":1}]`,
		"zero noise":            `[{"event":"gaussian","noise_multiplier":0,"count":1}]`,
		"rate above 1":          `[{"event":"subsampled-gaussian","rate":1.1,"noise_multiplier":1,"count":1}]`,
		"rate 0":                `[{"event":"subsampled-gaussian","rate":0,"noise_multiplier":1,"count":1}]`,
		"another order":         `[{"count":1,"epsilon":1,"event":"laplace"}]`,
		"another form":          `[{"event":"laplace","epsilon":1.0,"count":1}]`,
		"δ = 1":                 `[{"event":"approx","epsilon":1,"delta":1,"count":1}]`,
		"an array for a charge": `[["laplace",1,1]]`,
		"not JSON":              `[{"event":"laplace"`,
	} {
		var c Composition
		err := json.Unmarshal([]byte(text), &c)
		// encoding/json leaves the zero charge, which Validate refuses
		if err == nil && name == "null charge" {
			err = c.validate()
		}
		if err == nil {
			t.Errorf("%s: accepted as %v", name, c)
		} else if !errors.Is(err, ErrEvent) && name != "not JSON" {
			t.Errorf("%s: %v is not ErrEvent", name, err)
		}
	}
}

func TestInvalidEvents(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, e := range []Event{
		nil, Gaussian{}, Gaussian{-1}, Gaussian{nan}, Gaussian{inf}, SubsampledGaussian{0, 1},
		SubsampledGaussian{1.1, 1}, SubsampledGaussian{nan, 1}, SubsampledGaussian{.1, 0},
		Gaussian{1e151}, SubsampledGaussian{.1, 1e151}, struct{ Event }{Gaussian{1}},
		Laplace{}, Laplace{inf}, Exponential{}, Exponential{nan},
		Approx{-1, 0}, Approx{inf, 0}, Approx{1, -1e-9}, Approx{1, 1}, Approx{nan, 0}, Approx{1, nan},
		&Gaussian{1}, GDPFilter{}, GDPFilter{-1}, GDPFilter{inf}, GDPFilter{nan},
	} {
		c := Composition{{e, 1}}
		if err := c.validate(); !errors.Is(err, ErrEvent) {
			t.Errorf("%#v: %v", e, err)
		}
		stattest.Fails(t, stattest.Err(json.Marshal(c)), "%#v was written", e)
	}
	stattest.Passes(t, every.validate(), "")
}

func TestAdjacencyText(t *testing.T) {
	for _, a := range []Adjacency{AddRemove, ReplaceOne} {
		text, err := a.MarshalText()
		var back Adjacency
		if err != nil || back.UnmarshalText(text) != nil || back != a || string(text) != a.String() {
			t.Errorf("%v: %s, %v, back %v", a, text, err, back)
		}
	}
	if AddRemove.String() != "add-remove" || ReplaceOne.String() != "replace-one" ||
		Adjacency(0).String() != "no adjacency" {
		t.Error("the names have changed")
	}
	stattest.Wraps(t, stattest.Err(Adjacency(3).MarshalText()), ErrEvent, "")
	var a Adjacency
	stattest.Wraps(t, a.UnmarshalText([]byte("Add-Remove")), ErrEvent, "")
}

func TestBudgetRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, b := range []Budget{{1, 1e-9}, {1e-9, 0}, {1e9, 1e-3}} {
		stattest.Passes(t, b.Validate(), "%v", b)
	}
	for _, b := range []Budget{{0, 0}, {-1, 0}, {nan, 0}, {inf, 0}, {1, -1e-9}, {1, nan},
		{1, math.Nextafter(1e-3, 1)}, {1, inf}} {
		stattest.Wraps(t, b.Validate(), ErrBudgetRange, "%v", b)
	}
}
