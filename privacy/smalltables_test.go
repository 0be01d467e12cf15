package privacy

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// TestSmallTables takes every table of up to four rows over two columns of two codes, and every
// neighbour of it, and compares how far what a mechanism adds noise to moves with the sensitivity
// in the event that is charged for it. It must never be exceeded, and be attained by some pair.
//
// The mechanisms are called as anybody calls them, with noise so small that it is 0 but with a
// probability below exp(−1000): what they release is what they add noise to. Selections release no
// scores; these are had from inside.

// tiny is the noise: the least that the samplers take.
const tiny = noise.MinScale

// smallTable is its units: the cells, 2·first code + second, of each one's rows.
type smallTable [][]uint8

// small is one table in the hands of a mechanism.
type small struct {
	t     *testing.T
	units smallTable
	nb    Neighbours
	table *table.Table
}

// value is what noise is added to. Entry i is for the i-th way in which secret coins may have
// fallen that do not depend on the rows: between neighbours, entries are compared one by one.
type value [][]float64

// smallRow is a mechanism with its arguments.
type smallRow struct {
	mechanism, with string
	of              func(s *small) value
	// claim is how far the value may move between neighbours, in which norm, by the event.
	claim func(nb Neighbours) float64
	norm  func(change []float64) float64
	// most is the share of the claim that some pair attains, in a relation; 1 if nil.
	most func(nb Neighbours) float64
}

func l1(x []float64) (sum float64) {
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum
}

func l2(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// rangeOf is how far apart the changes of two scores are: of a selection, twice the change of one.
func rangeOf(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// gaussianClaim is Δ of a Gaussian event: its multiplier is σ/Δ.
func gaussianClaim(sigma float64,
	event func(nb Neighbours) accountant.Event) func(Neighbours) float64 {
	return func(nb Neighbours) float64 { return sigma / event(nb).(accountant.Gaussian).NoiseMultiplier }
}

// laplaceClaim is Δ of a Laplace event: its ε is Δ/scale.
func laplaceClaim(event func(nb Neighbours) accountant.Event) func(Neighbours) float64 {
	return func(nb Neighbours) float64 { return tiny * event(nb).(accountant.Laplace).Epsilon }
}

// exponentialClaim is that the logarithms of the odds of two outcomes move by at most ε of the
// event.
func exponentialClaim(event accountant.Event) func(Neighbours) float64 {
	return func(Neighbours) float64 { return event.(accountant.Exponential).Epsilon }
}

// open is a session on the table that pays for these events.
func (s *small) open(plan ...accountant.Event) *Session {
	s.t.Helper()
	o := &session{schema: s.table.Schema(), nb: s.nb, src: noise.NewSource()}
	o.left = accountant.NewReservation(planOf(plan))
	if err := FromTable(s.table).read(context.Background(), o); err != nil {
		s.t.Fatal(err)
	}
	return &Session{o}
}

func planOf(events []accountant.Event) (plan accountant.Composition) {
	for _, e := range events {
		plan = append(plan, accountant.Charge{Event: e, Count: 1})
	}
	return plan
}

// texts is a session on one column of texts, the names of the cells.
func (s *small) texts(names []string, plan ...accountant.Event) *TextSession {
	s.t.Helper()
	var cells []string
	var units []uint32
	for i, u := range s.units {
		for _, c := range u {
			cells, units = append(cells, names[c]), append(units, uint32(i))
		}
	}
	data, err := textTable(cells, units, s.nb.MaxRowsPerUnit, nil).load(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	o := &session{schema: &schema.Schema{}, nb: s.nb, src: noise.NewSource()}
	o.left = accountant.NewReservation(planOf(plan))
	data.bound(s.nb.MaxRowsPerUnit, o.src)
	return &TextSession{&textSession{o, []string{"c"}, func() *texts { return data }}}
}

// one is the only entry of a value, of numbers that a mechanism released.
func one[T int64 | float64](s *small) func(xs []T, err error) value {
	return func(xs []T, err error) value {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		out := make([]float64, len(xs))
		for i, x := range xs {
			out[i] = float64(x)
		}
		return value{out}
	}
}

func single[T int64 | float64](s *small) func(x T, err error) value {
	return func(x T, err error) value { s.t.Helper(); return one[T](s)([]T{x}, err) }
}

var (
	smallSizes   = []int{2, 2}
	smallQueries = wheres([]table.Expr{
		table.Condition{Column: 0, Allow: []bool{true, false}},
		table.Not{Of: table.Condition{Column: 1, Allow: []bool{true, false}}},
		table.And{},
	})
	smallBoth  = Marginal{Cols: []int{1, 0}}
	smallFirst = Marginal{Cols: []int{0}}
)

// smallCells is a histogram's cells: those of both columns.
type smallCells struct{ size int }

func (c smallCells) Size() int { return c.size }

func (c smallCells) CellsTo(dst []uint32, columns []table.Codes) {
	for i := range dst {
		dst[i] = uint32(2*columns[0].At(i)+columns[1].At(i)) % uint32(c.size)
	}
}

// smallVotes are votes on one question, a way to fall for each way to put up to four units into two
// shards: bit i of its number is the shard of unit i.
func smallVotes(classes int, of func(s *small, sh *Shards[int]) []float64) func(s *small) value {
	return func(s *small) (out value) {
		for way := range uint64(1 << 4) {
			o := s.open()
			in, unit := &shards[int]{}, 0
			for i, rows := range partition(o.data(), 2,
				func(uint64) uint64 { unit++; return way >> (unit - 1) & 1 }) {
				vote := 0
				for _, row := range rows {
					vote += 1 + i + int(o.data().Column(0).At(row)+2*o.data().Column(1).At(row))
				}
				in.rows, in.teachers = append(in.rows, nil), append(in.teachers,
					smallTeacher(vote%classes))
			}
			sh := &Shards[int]{&shardSet[int]{s: o.session, count: 2,
				inner: func() *shards[int] { return in }}}
			out = append(out, of(s, sh))
		}
		return out
	}
}

// smallTeacher votes for one class.
type smallTeacher uint8

func (smallTeacher) Train(*table.Table, int) {}

func (t smallTeacher) VotesTo(votes []uint8, _ int) { votes[0] = uint8(t) }

// smallCounts is the counts that a ballot adds noise to: of two classes the second.
func smallCounts(a Aggregator, classes int) func(s *small, sh *Shards[int]) []float64 {
	return func(s *small, sh *Shards[int]) []float64 {
		b := Ballot{Questions: 1, Classes: classes}
		answer, _ := s.nb.VoteEvents(a, classes)
		sh.s.left = accountant.NewReservation(once(answer))
		tally, err := sh.Vote(a, b, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		if classes == 2 {
			tally.Counts = tally.Counts[1:]
		}
		return one[int64](s)(tally.Counts, nil)[0]
	}
}

// smallCheck is the number that a check adds noise to: the largest threshold that is passed.
func smallCheck(at func(threshold float64) Aggregator, classes int) func(s *small,
	sh *Shards[int]) []float64 {
	return func(s *small, sh *Shards[int]) []float64 {
		for threshold := 2.; ; threshold-- {
			a := at(threshold)
			answer, check := s.nb.VoteEvents(a, classes)
			sh.s.left = accountant.NewReservation(planOf([]accountant.Event{answer, check}))
			tally, err := sh.Vote(a, Ballot{Questions: 1, Classes: classes}, 0)
			if err != nil {
				s.t.Fatal(err)
			}
			if tally.Answered[0] {
				return []float64{threshold}
			}
		}
	}
}

func voteClaim(a Aggregator, classes int, check bool) func(nb Neighbours) float64 {
	return gaussianClaim(tiny, func(nb Neighbours) accountant.Event {
		answer, checks := nb.VoteEvents(a, classes)
		if check {
			return checks
		}
		return answer
	})
}

// gradient is an encoded sum in units of the ellipsoid: of radius 1, by the certificate.
func gradient(sum []int64, cert interface {
	ScalesTo(dst []float64, multiplier float64)
	Grid() float64
}) value {
	out := make([]float64, len(sum))
	cert.ScalesTo(out, 1)
	for k, c := range out {
		out[k] = float64(sum[k]) * cert.Grid() / c
	}
	return value{out}
}

func smallRows() []smallRow {
	confident := func(threshold float64) Aggregator {
		return ConfidentGNMax{CheckSigma: tiny, Threshold: threshold, Sigma: tiny}
	}
	interactive := func(threshold float64) Aggregator {
		return InteractiveGNMax{
			CheckSigma: tiny, Threshold: threshold, Sigma: tiny, Confidence: .9,
			Student: []float64{.75, 0, .25},
		}
	}
	estimates := []Candidate{
		{Query: smallBoth, Estimate: []float64{9, 9, 9, 9}},
		{Query: smallBoth, Estimate: []float64{-9, -9, -9, -9}},
		{Query: smallBoth, Estimate: []float64{-9, -9, 9, 9}, Weight: 1},
		{Query: smallBoth, Estimate: []float64{9, 9, -9, -9}},
		{Query: smallFirst, Estimate: []float64{.5, 1.25}, Weight: .3, Penalty: 1},
	}
	guesses := []Candidate{
		{Query: smallQueries[0], Estimate: []float64{9}},
		{Query: smallQueries[0], Estimate: []float64{-9}},
		{Query: smallQueries[1], Estimate: []float64{1.5}, Weight: .4},
		{Query: smallQueries[2], Estimate: []float64{2}},
		{Query: smallFirst, Estimate: []float64{0, 0}, Weight: .25}, // less than a count moves
	}
	names := []string{"", "17", "x", "-2.5"}
	classes := func(adj Neighbours) accountant.Event { return adj.MeasureEvent(Marginal{}, tiny) }
	distance := tiny / (1 << estimateBits)
	discovery := Discovery{Sigma: tiny, Delta: 1e-9}
	const epsilon = 1.
	rows := []smallRow{
		{"Distance", "", func(s *small) value {
			o := s.open(s.nb.DistanceEvent([]Query{smallBoth, smallBoth}, distance))
			return single[float64](s)(o.Distance([]Candidate{estimates[3], estimates[3]}, distance))
		}, gaussianClaim(distance, func(nb Neighbours) accountant.Event {
			return nb.DistanceEvent([]Query{smallBoth, smallBoth}, distance)
		}), l2, nil},
		{"Distance", "of kinds", func(s *small) value {
			o := s.open(s.nb.DistanceEvent([]Query{smallBoth, Total{}}, distance))
			return single[float64](s)(o.Distance([]Candidate{
				{Query: smallBoth, Estimate: []float64{-9, -9, -9, -9}},
				{Query: Total{}, Estimate: []float64{-9}},
			}, distance))
		}, gaussianClaim(distance, func(nb Neighbours) accountant.Event {
			return nb.DistanceEvent([]Query{smallBoth, Total{}}, distance)
		}), l2, func(nb Neighbours) float64 {
			if nb.Adjacency == accountant.ReplaceOne { // all estimates are too small: k−1 rows of 3k
				return (1 - 1/nb.k()) * 2 / 3
			}
			return 1
		}},
		{"Select", "", func(s *small) value { return smallScores(s, estimates, epsilon) },
			exponentialClaim(Neighbours{}.SelectEvent(epsilon)), rangeOf, nil},
		{"Select", "of counts", func(s *small) value { return smallScores(s, guesses, epsilon) },
			exponentialClaim(Neighbours{}.SelectEvent(epsilon)), rangeOf, nil},
		{"SelectDatabase", "", func(s *small) value {
			return smallDatabases(s, smallQueries[:1], [][]float64{{9}, {-9}, {1.25}}, epsilon)
		}, exponentialClaim(Neighbours{}.SelectDatabaseEvent(epsilon)), rangeOf, nil},
		{"SelectDatabase", "of cells", func(s *small) value {
			return smallDatabases(s, []Query{smallFirst}, [][]float64{{9, 0}, {-9, 0}}, epsilon)
		}, exponentialClaim(Neighbours{}.SelectDatabaseEvent(epsilon)), rangeOf, nil},
		{"AboveThreshold", "", smallThreshold, smallThresholdClaim, l1, nil},
		{"Kinds", "", func(s *small) value {
			return one[int64](s)(s.texts(names, classes(s.nb)).Kinds(0, tiny))
		}, gaussianClaim(tiny, classes), l2, nil},
		{"Magnitudes", "", func(s *small) value {
			m := schema.Magnitudes{Kind: schema.Real, PerPower: 1}
			return one[int64](s)(s.texts(names, classes(s.nb)).Magnitudes(0, m, tiny))
		}, gaussianClaim(tiny, classes), l2, nil},
		{"Discover", "", func(s *small) value { return smallDiscovery(s, names, discovery) },
			gaussianClaim(tiny,
				func(nb Neighbours) accountant.Event { return nb.DiscoverEvents(discovery)[0].Event }), l2, nil},
		{"CertifiedSum", "", func(s *small) value {
			critic, p := newToyCritic(smallSizes, 2), CertifiedPlan{Mode: bounds.Box, Rate: 1,
				NoiseMultiplier: 1}
			got, err := s.open(s.nb.CertifiedSumEvent(p)).CertifiedSum(p, critic)
			if err != nil {
				s.t.Fatal(err)
			}
			return gradient(encoded(got.Certificate, critic, s.table), got.Certificate)
		}, func(Neighbours) float64 { return 1 }, l2, func(Neighbours) float64 { return .3 }},
		{"ClippedSum", "", func(s *small) value {
			critic, p := newToyCritic(smallSizes, 2), ClippedPlan{Radius: .1, Rate: 1,
				NoiseMultiplier: 1}
			got, err := s.open(s.nb.ClippedSumEvent(p)).ClippedSum(p, critic)
			if err != nil {
				s.t.Fatal(err)
			}
			return gradient(clippedSum(got.Certificate, critic, s.table), got.Certificate)
		}, func(Neighbours) float64 { return 1 }, l2, func(Neighbours) float64 { return .3 }},
		{"ClippedSum", "with a penalty", func(s *small) value {
			critic := &penalised{toyCritic: newToyCritic(smallSizes, 2), atRest: true}
			p := ClippedPlan{Radius: .1, Rate: 1, NoiseMultiplier: 1,
				Penalty: PenaltyPlan{Share: .5, Reach: .1}}
			got, err := s.open(s.nb.ClippedSumEvent(p)).ClippedSum(p, critic)
			if err != nil {
				s.t.Fatal(err)
			}
			cert := got.Penalty.Certificate
			return gradient(penaltySumOf(cert, critic, s.table, 1), cert)
		}, func(Neighbours) float64 { return 1 }, l2, func(Neighbours) float64 { return .3 }},
	}
	for _, q := range append([]Query{
		Total{}, smallBoth, Marginal{Cols: []int{0, 1}, Groups: [][]uint16{{0, 0}, nil}}, smallFirst,
		Cells{smallCells{4}}, ContributionHistogram{[]int{1, 2}},
	}, smallQueries[:2]...) {
		rows = append(rows, smallMeasure(q)...)
	}
	for _, n := range []int{2, 3} {
		rows = append(rows, smallRow{"Vote", fmt.Sprintf("LNMax of %d", n), smallVotes(n,
			smallCounts(LNMax{tiny}, n)),
			laplaceClaim(func(nb Neighbours) accountant.Event {
				e, _ := nb.VoteEvents(LNMax{tiny}, n)
				return e
			}), l1, nil},
			smallRow{"Vote", fmt.Sprintf("GNMax of %d", n), smallVotes(n, smallCounts(GNMax{tiny},
				n)), voteClaim(GNMax{tiny}, n, false), l2, nil},
			smallRow{"Vote", fmt.Sprintf("check of %d", n), smallVotes(n, smallCheck(confident, n)),
				voteClaim(confident(0), n, true), l2, nil})
	}
	return append(rows, smallRow{"Vote", "check with a student", smallVotes(3,
		smallCheck(interactive, 3)), voteClaim(interactive(0), 3, true), l2, nil})
}

// smallMeasure is a query in both releases of its counts.
func smallMeasure(q Query) []smallRow {
	most := func(nb Neighbours) float64 {
		switch _, isTotal := q.(Total); {
		case nb.Adjacency == accountant.AddRemove:
		case isTotal: // replacing a unit of one row by one of two is all there is
			return 1 - 1/nb.k()
		case nb.MaxRowsPerUnit == 1: // units of one size are replaced by units of that size
			if _, is := q.(ContributionHistogram); is {
				return 0
			}
		}
		return 1
	}
	counts := func(s *small, release func(o *Session) ([]int64, error), e accountant.Event) value {
		o := s.open(e)
		if _, is := q.(ContributionHistogram); is && s.table.Units() == nil {
			return value{make([]float64, 3)}
		}
		return one[int64](s)(release(o))
	}
	gauss := func(nb Neighbours) accountant.Event { return nb.MeasureEvent(q, tiny) }
	laplace := func(nb Neighbours) accountant.Event { return nb.MeasureLaplaceEvent(q, tiny) }
	with := fmt.Sprintf("%T %v", q, q)
	return []smallRow{
		{"Measure", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) { return o.Measure(q, tiny) }, gauss(s.nb))
		}, gaussianClaim(tiny, gauss), l2, most},
		{"MeasureAll", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) {
				all, err := o.MeasureAll([]Query{q}, tiny)
				return slices.Concat(all...), err
			}, gauss(s.nb))
		}, gaussianClaim(tiny, gauss), l2, most},
		{"MeasureLaplace", with, func(s *small) value {
			return counts(s, func(o *Session) ([]int64, error) { return o.MeasureLaplace(q, tiny) }, laplace(s.nb))
		}, laplaceClaim(laplace), l1, most},
	}
}

// smallScores is what Select adds noise to.
func smallScores(s *small, candidates []Candidate, epsilon float64) value {
	o := s.open()
	grid, queries, err := o.onGrid(candidates)
	if err != nil {
		s.t.Fatal(err)
	}
	counts, err := o.counts(queries)
	scores := make([]float64, len(grid))
	for i, g := range grid {
		scores[i] = lambda(grid, epsilon) * float64(g.score(counts[i]))
	}
	return one[float64](s)(scores, err)
}

// smallDatabases is what SelectDatabase adds noise to.
func smallDatabases(s *small, qs []Query, databases [][]float64, epsilon float64) value {
	o := s.open()
	queries := compiledOf(s.t, o.session, qs...)
	counts, err := o.counts(queries)
	if err != nil {
		s.t.Fatal(err)
	}
	scores, err := databaseScores(slices.Concat(counts...), len(databases), slices.Values(databases))
	out := one[int64](s)(scores, err)
	for i := range out[0] {
		out[0][i] *= o.databaseLambda(queries, epsilon)
	}
	return out
}

// smallThreshold is the number of a question that AboveThreshold adds noise to: how far a count is
// off a guess, the largest level at which the answer is yes.
func smallThreshold(s *small) value {
	const guess = 5
	epsilon := s.nb.k() * (1 << 23)
	for level := float64(8); ; level -= .5 {
		th, err := s.open(s.nb.ThresholdEvent(epsilon)).AboveThreshold(level, epsilon)
		if err != nil {
			s.t.Fatal(err)
		}
		if above, err := th.Ask(smallQueries[1].(Where), guess); err != nil {
			s.t.Fatal(err)
		} else if above {
			return value{{level}}
		}
	}
}

// smallThresholdClaim is Δ in rows: the noise of a question has scale 4Δ/ε.
func smallThresholdClaim(nb Neighbours) float64 {
	o := &session{nb: nb, src: noise.NewSource(),
		left: accountant.NewReservation(once(nb.ThresholdEvent(1)))}
	th, err := o.AboveThreshold(0, 1)
	if err != nil {
		panic(err)
	}
	each := reflect.ValueOf(th.each).Elem()
	scale := math.Ldexp(float64(each.FieldByName("t").Uint()),
		-int(each.FieldByName("shift").Uint()))
	return scale / 4 / (1 << estimateBits)
}

// smallDiscovery is the counts of all texts. Those that reach the threshold are released, and only
// those that more than a unit's rows have.
func smallDiscovery(s *small, names []string, d Discovery) value {
	o := s.texts(names, s.nb.DiscoverEvents(d)[0].Event, s.nb.DiscoverEvents(d)[1].Event)
	counts := make([]float64, len(names))
	c := o.texts().cols[0]
	for i, n := range c.counts() {
		counts[slices.Index(names, c.of[i])] = float64(n)
	}
	found, err := o.Discover(0, d)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range found {
		if n := counts[slices.Index(names, f.Text)]; float64(f.Rows) != n || n <= s.nb.k() {
			s.t.Fatalf("%v: %q is released with %d rows, it has %v", s.nb, f.Text, f.Rows, n)
		}
	}
	return value{counts}
}

// sets are the sorted lists of n of the numbers from 0 to below of, each as often as it may be.
func sets(n, of int) (out [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, s := range sets(n-1, of) {
		first := 0
		if len(s) > 0 {
			first = s[len(s)-1]
		}
		for x := first; x < of; x++ {
			out = append(out, append(slices.Clone(s), x))
		}
	}
	return out
}

// smallUnits are all units of up to k rows.
func smallUnits(k int) (out [][]uint8) {
	for n := 1; n <= k; n++ {
		for _, set := range sets(n, 4) {
			unit := make([]uint8, n)
			for i, c := range set {
				unit[i] = uint8(c)
			}
			out = append(out, unit)
		}
	}
	return out
}

// neighbours calls f for all tables of up to four rows and their neighbours: both have the same
// units, but the last.
func neighbours(nb Neighbours, f func(a, b smallTable)) {
	units := smallUnits(nb.MaxRowsPerUnit)
	for n := range 4 {
		for _, set := range sets(n, len(units)) {
			shared, rows := smallTable{}, 0
			for _, u := range set {
				shared, rows = append(shared, units[u]), rows+len(units[u])
			}
			with := func(u []uint8) smallTable { return append(slices.Clone(shared), u) }
			for i, u := range units {
				switch {
				case rows+len(u) > 4:
				case nb.Adjacency == accountant.AddRemove:
					f(shared, with(u))
				default:
					for _, v := range units[:i] {
						if rows+len(v) <= 4 {
							f(with(u), with(v))
						}
					}
				}
			}
		}
	}
}

// smallOf is the table of these units; without an id column every unit is one row.
func smallOf(t *testing.T, units smallTable, nb Neighbours, id bool) *small {
	sch := &schema.Schema{}
	if id {
		sch.Unit, sch.MaxRowsPerUnit = "id", nb.MaxRowsPerUnit
	}
	for _, c := range testSchema("", 0).Columns[:2] {
		c.Categories = c.Categories[:2]
		sch.Columns = append(sch.Columns, c)
	}
	cols, numbers := []table.Codes{{U8: []uint8{}}, {U8: []uint8{}}}, []uint32(nil)
	if id {
		numbers = []uint32{}
	}
	for i, u := range units {
		for _, c := range u {
			cols[0].U8, cols[1].U8 = append(cols[0].U8, c/2), append(cols[1].U8, c%2)
			if id {
				numbers = append(numbers, uint32(i))
			}
		}
	}
	tab, err := table.FromColumns(sch, cols, numbers)
	if err != nil {
		t.Fatal(err)
	}
	return &small{t, units, nb, tab}
}

func TestSmallTables(t *testing.T) {
	have := map[string]bool{"SaveDataDependent": true} // writes a private file, under no claim
	rows := smallRows()
	for _, row := range rows {
		have[row.mechanism] = true
	}
	for _, name := range mechanisms(t) {
		if !have[name] {
			t.Errorf("the mechanism %s has no row here", name)
		}
	}
	type relation struct {
		Neighbours
		id bool
	}
	for _, r := range []relation{
		{Neighbours{accountant.AddRemove, 1}, false}, {Neighbours{accountant.ReplaceOne, 1}, false},
		{Neighbours{accountant.AddRemove, 1}, true}, {Neighbours{accountant.ReplaceOne, 1}, true},
		{Neighbours{accountant.AddRemove, 2}, true}, {Neighbours{accountant.ReplaceOne, 2}, true},
	} {
		for _, row := range rows {
			if strings.Contains(row.with, "ContributionHistogram") && !r.id {
				continue // refused
			}
			t.Run(fmt.Sprintf("%v id %v %s %s", r.Neighbours, r.id, row.mechanism, row.with),
				func(t *testing.T) {
					known := map[string]value{}
					of := func(units smallTable) value {
						key := fmt.Sprint(units)
						if known[key] == nil {
							known[key] = row.of(smallOf(t, units, r.Neighbours, r.id))
						}
						return known[key]
					}
					claim, far, pairs := row.claim(r.Neighbours), 0., 0
					var at [2]smallTable
					neighbours(r.Neighbours, func(a, b smallTable) {
						va, vb := of(a), of(b)
						for way := range va {
							change := slices.Clone(va[way])
							for i, x := range vb[way] {
								change[i] -= x
							}
							if d := row.norm(change); d > far {
								far, at = d, [2]smallTable{a, b}
							}
							pairs++
						}
					})
					if far > claim*(1+1e-12) {
						t.Errorf("between %v and %v it moves by %v, the event claims %v", at[0], at[1],
							far, claim)
					}
					most := 1.
					if row.most != nil {
						most = row.most(r.Neighbours)
					}
					if far < most*claim*(1-1e-12) {
						t.Errorf("in %d pairs it moves by at most %v, the event claims %v", pairs, far,
							claim)
					}
				})
		}
	}
}
