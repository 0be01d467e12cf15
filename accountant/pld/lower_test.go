package pld

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
)

// The bounds of this package are proven from above. Here they are held to be tight: below each is a
// bound of what some mechanisms with these events cost at least, and Slack is how far the two are
// apart.

// withSlack returns the bound of Epsilon with its proven slack.
func withSlack(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (accountant.Bound, error) {
	b, err := Epsilon(c, delta, adj)
	_, alpha, _ := cheap(c, delta, adj)
	if err == nil && alpha > 0 {
		b.Slack = b.Epsilon - math.Min(b.Epsilon, lowest(c, delta, alpha, adj))
	}
	return b, err
}

// shares are what bounded-range events from below keep as their t, in parts of their ε: the best is
// near ε/2 for many calls and near ε for few. One group adapts instead, by the lower side of its
// V_k; one only, since C_k V_j is above V_{k+j}.
var shares = []float64{.57, .75, .95}

// lowest returns an ε below which the composition is not (ε, delta)-DP in the worst case.
func lowest(
	c accountant.Composition, delta, alpha float64, adj accountant.Adjacency,
) (lowest float64) {
	p, ok := newPlan(c, delta, adj)
	if !ok {
		return 0
	}
	h, discretized := p.grid(rdp(pure(c), 2, adj)), 0.0
	if p.mu > 0 {
		discretized++
	}
	var adapts accountant.Event
	weight := 0.0
	for _, charge := range p.rest {
		switch e := charge.Event.(type) {
		case accountant.SubsampledGaussian:
			discretized += float64(charge.Count)
		case accountant.Exponential:
			w, blocks := e.Epsilon*e.Epsilon*float64(charge.Count), p.ranges[e]
			if len(blocks) == 1 && blocks[0].count == 1 && e.Epsilon >= minRange && w > weight {
				adapts, weight = e, w
			}
		}
	}
	for _, share := range shares {
		below := map[accountant.Event][]rangeBlock{}
		for _, charge := range p.rest {
			e, ok := charge.Event.(accountant.Exponential)
			switch {
			case ok && e == adapts:
				below[e] = []rangeBlock{{1, gameOf(e.Epsilon, charge.Count).lower()}}
			case ok:
				below[e] = []rangeBlock{{float64(charge.Count), rangeAtoms(e.Epsilon, share)}}
			}
		}
		p.ranges = below
		if profiles, ok := p.profiles(h, alpha-1); ok {
			for _, f := range profiles {
				lowest = math.Max(lowest, f.lower(delta, p.steps(), 2*p.tail*discretized))
			}
		}
		if len(below) == 0 || len(below) == 1 && adapts != nil {
			break // nothing keeps its t
		}
	}
	return lowest
}

// rangeAtoms are the losses of one bounded-range mechanism with a fixed t.
func rangeAtoms(epsilon, share float64) []atom {
	t := share * epsilon
	p := math.Expm1(t-epsilon) / math.Expm1(-epsilon)
	return []atom{{t, p}, {t - epsilon, 1 - p}}
}

// lower returns an ε below which the composition of the true events is not (ε, delta)-DP. They are
// so many steps, whose losses were moved by more than a grid cell with probability lost.
//
// Putting a loss L on the grid is a random move to L + D, with D in an interval of length h and
// E[e^{−D}|L] = 1 up to the relative errors r of the masses. So E[D|L] ≤ h²/8 + 2r (Hoeffding's
// lemma for one side, Jensen's for the other), and for n independent draws, by Hoeffding's
// inequality, ΣD ≤ t = n(h²/8 + 2r) + h√(n·ln(1/η)/2) except with probability η. Hence δ_grid(ε +
// t) ≤ δ_true(ε) + η + lost, and the ε at which δ_grid falls to delta + η + lost, less t, is a
// lower bound of the true one.
func (c profile) lower(delta, steps, lost float64) float64 {
	eta := 1e-3 * delta // a relative change of 1e-3 in δ moves ε by about 1e-3/ln(1/δ)
	t := steps*(c.h*c.h/8+4*massError) + c.h*math.Sqrt(-steps*math.Log(eta)/2) + 4*c.shift
	target := (delta + eta + lost) * math.Exp(c.grow)
	inf := math.Max(0, c.inf-lost)
	epsilon := 0.0
	c.scan(func(loss, scale, a, b float64) bool {
		epsilon = loss
		return inf+scale*(a-b-c.err) <= target
	})
	return math.Max(0, epsilon-t)
}

// line is the tangent value + slope·(α − at) of a profile in α = e^x.
type line struct{ at, value, slope float64 }

// lower returns the atoms of a pair whose profile is at most V_k. An adversary who keeps t on the
// grid keeps the loss on it too, so the value of the best such choice is exact; the profile of that
// choice is a convex function of α whose tangent at the point is known. V_k is above all tangents.
func (g *rangeGame) lower() []atom {
	v, next := g.start(), g.start()
	s, nextS := make([]float64, len(v)), make([]float64, len(v))
	for i := range s {
		s[i] = [3]float64{-1, -0.5, 0}[1+sign(i-2*g.m-g.n)]
	}
	copy(nextS, s)
	for range g.k {
		g.inner(func(i int) {
			best := -1.0
			for j, p := range g.p {
				if value := p*v[i-j] + (1-p)*v[i-j+g.m]; value > best {
					best = value
					nextS[i] = p*s[i-j]/g.edge[j] + (1-p)*s[i-j+g.m]*g.edge[g.m]/g.edge[j]
				}
			}
			next[i] = best
		})
		v, next, s, nextS = next, v, nextS, s
	}
	var lines []line
	g.inner(func(i int) { lines = append(lines, line{g.alpha[i], v[i], s[i]}) })
	lines = append(lines, line{at: 1, value: 0, slope: 0})
	return envelope(lines)
}

// envelope returns the atoms of the maximum of lines that starts with 1 − α, or of a function below
// it: of lines with nearly the same slope one is kept, because where they cross is lost to
// rounding.
func envelope(lines []line) []atom {
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.slope, b.slope) })
	meet := func(a, b line) float64 { // the α where they cross
		return ((a.value - a.slope*a.at) - (b.value - b.slope*b.at)) / (b.slope - a.slope)
	}
	hull := []line{{at: 1, slope: -1}}
	for _, l := range lines {
		if top := hull[len(hull)-1]; l.slope-top.slope <= 1e-9*math.Abs(top.slope) {
			continue
		}
		for len(hull) > 1 && meet(hull[len(hull)-1], l) <= meet(hull[len(hull)-2], hull[len(hull)-1]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, l)
	}
	var atoms []atom
	for i := 1; i < len(hull); i++ {
		if at := meet(hull[i-1], hull[i]); at > 0 {
			atoms = append(atoms, atom{math.Log(at), at * (hull[i].slope - hull[i-1].slope)})
		}
	}
	return atoms
}

func sign(i int) int { return cmp.Compare(i, 0) }
