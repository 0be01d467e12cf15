package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/accountant/zcdp"
	"github.com/decoy-dp/decoy/configs"
)

// maxReleases is the most releases that a plan adds up.
const maxReleases = 10_000

// releases is what several runs of one plan on one table cost together, each perhaps chosen after
// the ones before.
type releases struct {
	Number  int     `json:"number"`
	Epsilon float64 `json:"epsilon"` // of the composition of all, at Delta
	Delta   float64 `json:"delta"`
	// the smallest limit of a ledger that lets all of them run
	Basic accountant.Budget `json:"limit_basic"`
	// the same with rule zcdp; nil if the method has no zero-concentrated cost
	ZCDP *accountant.Budget `json:"limit_zcdp,omitempty"`
}

// together adds up n runs of a plan.
func together(c accountant.Composition, n int, j configs.Job) (*releases, error) {
	all := slices.Clone(c)
	for i := range all {
		all[i].Count *= n
	}
	out := &releases{Number: n, Delta: j.Delta,
		Basic: accountant.Budget{Epsilon: float64(n) * j.Epsilon, Delta: float64(n) * j.Delta}}
	bound, err := pld.Epsilon(all, j.Delta, j.Relation())
	if err != nil {
		return nil, err
	}
	out.Epsilon = bound.Epsilon
	if rho := zcdp.Rho(all); !math.IsInf(rho, 1) && j.Delta > 0 {
		out.ZCDP = &accountant.Budget{Epsilon: zcdp.Epsilon(rho, j.Delta), Delta: j.Delta}
	}
	return out, nil
}

// limits says which limits of a ledger let all releases run.
func (r releases) limits() string {
	text := fmt.Sprintf("a ledger lets them run from epsilon %s, delta %s", up3(r.Basic.Epsilon),
		up3(r.Basic.Delta))
	if r.ZCDP != nil {
		text += fmt.Sprintf(", or with --rule zcdp from epsilon %s, delta %s", up3(r.ZCDP.Epsilon),
			up3(r.ZCDP.Delta))
	}
	return text
}

// up3 is x with three digits, rounded up: as a limit it is enough.
func up3(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return short3(math.Ceil(x/unit*(1-1e-12)) * unit)
}
