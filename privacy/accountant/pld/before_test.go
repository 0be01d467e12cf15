package pld

import (
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

const add, replace = accountant.AddRemove, accountant.ReplaceOne

// before has prices as an earlier form of pld.Epsilon printed them, to the last digit, which had a
// second account of the divergences. The first is the plan of a run of MWEM. The last five take
// seconds.
var before = []struct {
	adj            accountant.Adjacency
	delta, epsilon float64
	c              accountant.Composition
}{
	{add, 1e-9, 0.99999999947641616, events(times(gaussian(46.043781421439206), 14),
		times(exponential(0.03071453991645004), 28), times(gaussian(37.59459010358866), 28))},
	{add, 1e-9, 1.8142122703721104, events(times(filter(0.3), 1), times(exponential(0.05), 20))},
	{add, 1e-6, 1.397216263960178, events(times(filter(0.3), 1), times(exponential(0.05), 20),
		times(laplace(0.02), 3))},
	{add, 1e-9, 1.0231161620342375, events(times(exponential(0.1), 15))},
	{add, 1e-6, 7.3327138444101019, events(times(exponential(0.2), 200))},
	{add, 1e-9, 0.87001109041245661, events(times(exponential(0.01), 1000))},
	{add, 1e-5, 10.47278698735019, events(times(exponential(0.1), 3), times(exponential(0.1), 4),
		times(exponential(0.2), 5), times(exponential(5), 2))},
	{add, 1e-5, 254.12662072648669, events(times(exponential(250), 1), times(gaussian(1), 1))},
	{add, 1e-5, 153.87513411911451, events(times(exponential(150), 1), times(gaussian(1), 1))},
	{add, 1e-9, 0.99999937110336246, events(times(laplace(0.1), 10))},
	{add, 1e-9, 1.1499953279749755, events(times(laplace(0.1), 10), times(laplace(0.05), 3))},
	{add, 1e-6, 2.0309285493971707, events(times(laplace(0.1), 10), times(gaussian(5), 3))},
	{add, 1e-9, 3.1920565984714284, events(times(laplace(0.3), 3), times(gaussian(5), 3),
		times(exponential(0.1), 4), times(approx(0.2, 1e-10), 2))},
	{add, 1e-5, 1.6283902302483071, events(times(approx(0.1, 1e-7), 20))},
	{add, 1e-5, 0.9400687138986541, events(times(approx(0, 1e-7), 20), times(gaussian(4), 1))},
	{add, .195, 0, events(times(approx(0, 0.1), 2))},
	{add, .195, 0.7297120172849092, events(times(approx(0.1, 0.1), 2), times(laplace(0.3), 2))},
	{add, 1e-9, 0.0044253532043100731, events(times(laplace(1e-7), 100), times(gaussian(1000), 1))},
	{add, 1e-5, 3.3596617671147753, events(times(subsampled(0.1, 2), 200))},
	{replace, 1e-5, 6.5362125824779609, events(times(subsampled(0.1, 2), 200))},
	{add, 1e-9, 2.0938671733963159, events(times(subsampled(0.3, 5), 30), times(filter(0.1), 1))},
	{replace, 1e-9, 3.9444360236544949, events(times(subsampled(0.3, 5), 30),
		times(filter(0.1), 1))},
	{replace, 1e-9, 3.0709026802464616, events(times(subsampled(0.05, 6.5), 1000),
		times(filter(0.2), 1))},
	{add, 1e-9, 11.663225018905342, events(times(subsampled(0.5, 3), 100),
		times(gaussian(40), 14))},
	{replace, 1e-9, 24.573856380511021, events(times(subsampled(0.5, 3), 100),
		times(gaussian(40), 14))},
	{replace, 1e-9, 11.55048082188037, events(times(subsampled(0.9, 8), 60),
		times(filter(0.1), 1))},
	{add, 1e-6, 2.0076933685917524, events(times(subsampled(0.1, 2), 20),
		times(subsampled(0.2, 3), 20), times(gaussian(20), 5), times(approx(0.05, 1e-8), 2))},
	{replace, 1e-6, 3.5739937724555642, events(times(subsampled(0.1, 2), 20),
		times(subsampled(0.2, 3), 20), times(gaussian(20), 5), times(approx(0.05, 1e-8), 2))},
	{add, 1e-9, 3.6100148239490877, events(times(subsampled(1, 5), 9), times(exponential(0.1), 5))},
	{replace, 1e-9, 7.5998826076324049, events(times(subsampled(1, 5), 9),
		times(exponential(0.1), 5))},
	{add, 1e-5, 89.545268021704842, events(times(subsampled(0.5, 0.1), 1))},
	{replace, 1e-5, 97.970720317311859, events(times(subsampled(0.5, 0.1), 1))},
	{replace, 1e-9, 0.49070740227076032, events(times(laplace(0.05), 1),
		times(subsampled(0.9, 30), 2))},
	{add, 1e-9, 2.4236531624470397, events(times(subsampled(0.04, 2.3), 400),
		times(filter(0.17), 1))},
	{replace, 1e-9, 4.2912630561701546, events(times(subsampled(0.04, 2.3), 400),
		times(filter(0.17), 1))},
	{add, 1e-200, 110.37371763194867, events(times(subsampled(0.1, 1), 50), times(filter(0.3), 1))},
	{add, 1e-9, 15.398794468545331, events(times(exponential(0.5), 64),
		times(exponential(0.25), 65), times(gaussian(10), 3))},
	{add, 1e-9, 1.5110936335905234, events(times(filter(0.12), 1), times(approx(0.3, 0), 2),
		times(laplace(0.3), 1))},
	{add, 1e-9, 0.77971819254800701, events(times(approx(0, 1e-10), 3),
		times(exponential(0.03), 40), times(gaussian(30), 10))},
	{add, 1e-9, 0.54269185668956865, events(times(subsampled(0.001, 1), 3000),
		times(filter(0.05), 1))},
	{replace, 1e-9, 0.70913519768614686, events(times(subsampled(0.001, 1), 3000),
		times(filter(0.05), 1))},
	{add, 1e-7, 1.0976829071951393, events(times(subsampled(0.001, 1), 30000))},
	{add, 1e-5, 0.30714642637293454, events(times(subsampled(0.001, 1), 3000),
		times(filter(0.05), 1))},
	{replace, 1e-5, 0.45014589801472116, events(times(subsampled(0.001, 1), 3000),
		times(filter(0.05), 1))},
}

// TestPricesOfBefore: what was claimed verifies, for which a ledger allows a part in 10⁹.
func TestPricesOfBefore(t *testing.T) {
	t.Parallel()
	rows := before
	if !*long {
		rows = before[:len(before)-5]
	}
	for _, row := range rows {
		got := mustEpsilon(t, row.c, row.delta, row.adj)
		if got.Epsilon > row.epsilon*(1+1e-9) {
			t.Errorf("%v %v %v: %+v, before %v", row.adj, row.delta, row.c, got, row.epsilon)
		}
	}
}
