// Package mutants breaks the privacy core on purpose, one line at a time, and asks that a test
// notices. A mutant that survives is a hole in the tests. It compiles the core anew for each
// mutant, so it runs only with -long:
//
//	go test ./internal/mutants -args -long
package mutants

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

var long = flag.Bool("long", false, "run the mutants: some minutes")

// mutant is one edit. The old text must occur exactly once in the file, so that a mutant cannot go
// stale unnoticed.
type mutant struct {
	name, file, old, new string
	tests                string // package and test that must notice
}

var mutants = []mutant{
	{
		"the hash of outputs leaves settings out", "ledger/excerpt/outputs.go",
		"if paid == nil {", `if delete(parts, "settings"); paid == nil {`,
		"./cmd/decoy TestOutputsAreBound",
	},
	{
		"the hash of outputs leaves charges out", "ledger/excerpt/outputs.go", "json.Marshal(paid)",
		"json.Marshal(paid[:0])", "./cmd/decoy TestOutputsAreBound",
	},
	{
		"the hash of outputs is not compared", "release/delivered.go",
		"have != outputs || f.proof", "len(have) != len(outputs) || f.proof",
		"./cmd/decoy TestOutputsAreBound",
	},
	{
		"a key that is there twice is read once", "release/delivered.go",
		"have != outputs || f.proof().altered", "have != outputs", "./cmd/decoy TestOutputsAreBound",
	},
	{
		"the closing line has no hash of outputs", "privacy/session.go", ", Outputs: s.outputs}", "}",
		"./cmd/decoy TestReleasesTellOfLostSpending",
	},
	{
		"verify does not look at σ", "release/delivered.go",
		"!ok || math.Abs(want.NoiseMultiplier-paid.NoiseMultiplier) > 1e-9*paid.NoiseMultiplier",
		"_ = math.Abs(want.NoiseMultiplier - paid.NoiseMultiplier); !ok", "./cmd/decoy TestForgedNoise",
	},
	{
		"verify does not look at the answers", "release/delivered.go", "sum == e.Answer",
		"len(sum) == len(e.Answer)", "./cmd/decoy TestForgedNoise",
	},
	{
		"a joint model's marginals are not held to its parties", "release/join.go",
		"one.held(measured[i])", "one.held(measured[i][:0])", "./cmd/decoy TestForgedNoise",
	},
	{
		"a release is signed whatever the ledger says", "cmd/decoy/release.go",
		"err = m.Ledger.In(l)", "_ = m.Ledger.In(l)", "./cmd/decoy TestReleasesTellOfLostSpending",
	},
	{
		"a hash beside a ledger is passed over", "ledger/excerpt/outputs.go",
		"b, err = json.Marshal(parts)", `delete(parts, "outputs"); b, err = json.Marshal(parts)`,
		"./cmd/decoy TestNothingBesideTheRun",
	},
	{
		"a ledger has the run of whatever is around its lines", "cmd/decoy/verify.go",
		"return v.Unbound, cmp.Or(f.Account().In(l), err)",
		"_ = err; return v.Unbound, cmp.Or(f.Account().In(l))", "./cmd/decoy TestNothingBesideTheRun",
	},
	{
		"lines that are gone at the end are not missed", "ledger/excerpt/outputs.go",
		"if len(rest) > 0 {", "if false {", "./cmd/decoy TestReleasesTellOfLostSpending",
	},
	{
		"a reservation is not synced", "ledger/file.go", "disk.Sync(file); err", "error(nil); err",
		"./internal/kill TestOrder",
	},
	{
		"a reservation that failed halfway gives its journal up", "privacy/account.go",
		"failed == nil && len(linesOf(l, s.run)) == 0 {", "failed == nil || l == nil {",
		"./internal/kill TestEveryPoint",
	},
	{
		"temporary files of the dead stay", "internal/disk/file.go", "\tSweep(target)\n",
		"\t_ = Sweep\n", "./internal/kill TestEveryPoint",
	},
	{
		"a file gets its name before its content is synced", "internal/disk/file.go",
		"err := Sync(file)", "err := error(nil)", "./internal/kill TestOrder",
	},
	{
		"the folder of a new file is not synced", "internal/disk/file.go",
		"SyncDir(filepath.Dir(f.target))", "error(nil)", "./internal/kill TestOrder",
	},
	{
		"halved Gaussian noise", "privacy/measure.go", "g.AddTo(counts, rows.Source)",
		"g2, _ := noise.NewRoundedGaussian(sigma / 2); g2.AddTo(counts, rows.Source); _ = g",
		"./privacy TestNoiseOfTheMechanisms",
	},
	{
		"one cell of several is noised", "privacy/measure.go", "g.AddTo(counts,",
		"g.AddTo(counts[:1],", "./privacy TestNoiseOfTheMechanisms",
	},
	{
		"answers of several queries are mixed up", "privacy/measure.go",
		"flat[:q.Cells:q.Cells], flat[q.Cells:]", "flat[:q.Cells:q.Cells], flat[1:]",
		"./privacy TestMeasureAll",
	},
	{
		"several queries are charged as one", "privacy/measure.go", "\t\t\tcost[i].Count++\n", "",
		"./privacy TestMeasureAll",
	},
	{
		"halved Laplace noise", "privacy/laplace/laplace.go", "counts[i] += lap.Sample(rows.Source)",
		"counts[i] += lap.Sample(rows.Source) / 2", "./privacy/laplace TestLaplaceNoise",
	},
	{
		"Measure is not charged", "privacy/measure.go", "c.Cost = add(c.Cost, s.nb",
		"_ = add(c.Cost, s.nb", "./privacy TestFilterIsDrained",
	},
	{
		"Select is not charged", "privacy/select.go", "access.Once(s.nb.SelectEvent(epsilon))", "nil",
		"./privacy TestFilterIsDrained",
	},
	{
		"the reservation is never used up", "accountant/reservation.go",
		"\t\tr.left[c.Event] -= c.Count\n", "", "./privacy/gradient TestCertifiedSumRefuses",
	},
	{
		"the filter is never used up", "accountant/reservation.go", "\t\t\tr.spent = after\n", "",
		"./privacy TestFilterIsDrained",
	},
	{
		"a verified filter is never used up", "accountant/reservation.go", "\t\t\tr.spent = after\n", "",
		"./accountant TestReservationTakesNamedEventsFirst",
	},
	{
		"a selection takes half its μ from the pool", "accountant/gdpfilter.go",
		"mu = rangeMu(e.Epsilon)", "mu = rangeMu(e.Epsilon) / 2", "./privacy TestFilterIsDrained",
	},
	{
		"a filter pays for Laplace noise", "accountant/gdpfilter.go", "case Exponential:\n\t\tmu",
		"case Laplace:\n\t\tmu", "./privacy TestFilterIsDrained",
	},
	{
		"a single count has half its sensitivity", "privacy/internal/access/query.go",
		"return x, x, x\n\tcase", "return x / 2, x / 2, x / 2\n\tcase", "./privacy TestSmallTables",
	},
	{
		"Measure has half its sensitivity", "privacy/measure.go", "access.Down(sigma, l2)",
		"access.Down(sigma, l2/2)", "./privacy TestSmallTables",
	},
	{
		"Laplace noise has half its sensitivity", "privacy/laplace/laplace.go", "access.Up(l1, scale)",
		"access.Up(l1/2, scale)", "./privacy/laplace TestSmallTables",
	},
	{
		"Laplace noise is not charged", "privacy/laplace/laplace.go",
		"access.Once(event(s.Neighbours(), one.Kind, scale))",
		"nil", "./privacy/laplace TestLaplaceIsChargedBeforeReading",
	},
	{
		"Measure has twice its sensitivity", "privacy/measure.go", "access.Down(sigma, l2)",
		"access.Down(sigma, l2*2)", "./privacy TestSmallTables",
	},
	{
		"Select has half its sensitivity", "privacy/select.go", "float64(g.weight)*g.delta*",
		"float64(g.weight)*g.delta/2*", "./privacy TestSmallTables",
	},
	{
		"Select takes the lightest candidate's sensitivity", "privacy/select.go",
		"delta = max(delta, float64(g.weight)", "delta = min(max(delta, 1<<22), float64(g.weight)",
		"./privacy TestSmallTables",
	},
	{
		"a choice of a database has half its sensitivity", "privacy/database/database.go",
		"access.Down(epsilon, 2*delta*", "access.Down(epsilon, delta*",
		"./privacy/database TestSmallTables",
	},
	{
		"a logistic gradient has the sensitivity of one column", "privacy/logistic/problem.go",
		"m := float64(len(p.Columns))", "m := 1.", "./privacy/logistic TestGradientSensitivity",
	},
	{
		"a logistic gradient of many classes has the sensitivity of two", "privacy/logistic/problem.go",
		"\t\tm *= 2\n", "", "./privacy/logistic TestGradientSensitivity",
	},
	{
		"a replaced unit moves a logistic gradient as an added one", "privacy/logistic/problem.go",
		"k *= 2 // the", "k *= 1 // the", "./privacy/logistic TestSmallTables",
	},
	{
		"a unit has one row in a logistic gradient", "privacy/logistic/problem.go",
		"float64(max(1, nb.MaxRowsPerUnit))", "1.", "./privacy/logistic TestSmallTables",
	},
	{
		"the residuals of other classes are not held together", "privacy/logistic/problem.go",
		"left -= z[i]", "left -= 0 * z[i]", "./privacy/logistic TestGradientIsTheFormula",
	},
	{
		"halved noise of logistic gradients", "privacy/logistic/gradient.go",
		"math.Ldexp(sigma, gradientBits)", "math.Ldexp(sigma, gradientBits-1)",
		"./privacy/logistic TestGradientNoise",
	},
	{
		"one coordinate of a logistic gradient is noised", "privacy/logistic/gradient.go",
		"g.AddTo(sum, rows.Source)", "g.AddTo(sum[:1], rows.Source)",
		"./privacy/logistic TestGradientNoise",
	},
	{
		"a logistic gradient is not charged", "privacy/logistic/gradient.go",
		"access.Once(GradientEvent(s.Neighbours(), p, sigma))", "nil",
		"./privacy/logistic TestGradientRefuses",
	},
	{
		"a minimum moves by half its sensitivity", "privacy/logistic/minimum.go",
		"moved := (p.sensitivity(nb)", "moved := (.5*p.sensitivity(nb)",
		"./privacy/logistic TestMinimumSensitivity",
	},
	{
		"the gap of a minimum is not counted", "privacy/logistic/minimum.go",
		"(p.sensitivity(nb) + 2*Gap)", "(p.sensitivity(nb) + 0*Gap)",
		"./privacy/logistic TestMinimumSensitivity",
	},
	{
		"a descent ends before the gap", "privacy/logistic/minimum.go",
		"k >= steps && math.Sqrt(norm)*roundedUp+rounding <= gap", "k >= steps/50 && rounding < 1",
		"./privacy/logistic TestMinimumIsNear",
	},
	{
		"the curvature of objective perturbation is free", "privacy/logistic/minimum.go",
		"math.Log1p(curvature/x.Penalty)*roundedUp", "0*math.Log1p(curvature/x.Penalty)",
		"./privacy/logistic TestObjectiveDelta",
	},
	{
		"a row moves half its gradient in objective perturbation", "privacy/logistic/minimum.go",
		"mu := math.Sqrt(p.squared()) / x.Objective", "mu := .5 * math.Sqrt(p.squared()) / x.Objective",
		"./privacy/logistic TestObjectiveDelta",
	},
	{
		"of a replaced unit one row counts in objective perturbation", "privacy/logistic/minimum.go",
		"\t\trows *= 2\n", "", "./privacy/logistic TestObjectiveEvent",
	},
	{
		"halved noise of objective perturbation", "privacy/logistic/minimum.go",
		"math.Ldexp(x.Objective, linearBits)", "math.Ldexp(x.Objective, linearBits-1)",
		"./privacy/logistic TestMinimumNoise",
	},
	{
		"halved noise of output perturbation", "privacy/logistic/minimum.go",
		"math.Ldexp(x.Output, weightBits)", "math.Ldexp(x.Output, weightBits-1)",
		"./privacy/logistic TestMinimumNoise",
	},
	{
		"a minimum with a linear term gets no noise of its own", "privacy/logistic/minimum.go",
		"output.AddTo(w, rows.Source)", "if linear == nil {\n\t\t\toutput.AddTo(w, rows.Source)\n\t\t}",
		"./privacy/logistic TestMinimumCoversItsGap",
	},
	{
		"a minimum is not charged", "privacy/logistic/minimum.go",
		"access.Once(MinimumEvent(s.Neighbours(), p, x))", "nil",
		"./privacy/logistic TestMinimumRefuses",
	},
	{
		"results of blocks are not cut", "privacy/blocks/blocks.go", "x = max(f.Lower, min(f.Upper, x))",
		"x = max(f.Lower, x)", "./privacy/blocks TestHostileStatistics",
	},
	{
		"halved noise of means over blocks", "privacy/blocks/blocks.go",
		"sums[0] += add[0].Sample(rows.Source)", "sums[0] += add[0].Sample(rows.Source) / 2",
		"./privacy/blocks TestMeasureNoise",
	},
	{
		"squares over blocks have no noise", "privacy/blocks/blocks.go",
		"\t\tsums[1] += add[1].Sample(rows.Source)\n", "", "./privacy/blocks TestMeasureNoise",
	},
	{
		"squares over blocks move by twice what they cost", "privacy/blocks/blocks.go",
		"return d * d / steps", "return 2 * (d * d / steps)", "./privacy/blocks TestSmallTables",
	},
	{
		"a mean over blocks is not charged", "privacy/blocks/blocks.go", "Cost: Events(mean, square),",
		"Cost: Events(mean, square)[1:],", "./privacy/blocks TestMeasureRefuses",
	},
	{
		"squares over blocks are not charged", "privacy/blocks/blocks.go",
		"Cost: Events(mean, square),", "Cost: Events(mean, square)[:1],",
		"./privacy/blocks TestMeasureRefuses",
	},
	{
		"a run of parties is not charged", "privacy/shares/shares.go",
		"Cost: access.Once(Event(t.Budget)), ", "", "./privacy/shares TestCharged",
	},
	{
		"a share has no noise", "privacy/shares/shares.go", "\t\tasked.addTo(xs, rows.Source)\n", "",
		"./privacy/shares TestNoise",
	},
	{
		"a share has no masks", "privacy/shares/shares.go", "\t\tmaskTo(xs, r.masks(), r.t.Me, id)\n", "",
		"./privacy/shares TestOtherQuestion",
	},
	{
		"the masks of every sum are the same", "privacy/shares/mask.go", "max(i, me), of)",
		"max(i, me), \"\")", "./privacy/shares TestMasks",
	},
	{
		"masks are of a key and not of a pair", "privacy/shares/mask.go", "min(i, me), max(i, me),",
		"0, 0,", "./privacy/shares TestCopiedKey",
	},
	{
		"keys that nobody signed", "privacy/shares/shares.go",
		"!ed25519.Verify(id, r.history, signatures[i])", "len(id) == 0", "./privacy/shares TestOrder",
	},
	{
		"sums go on after one that did not come back", "privacy/shares/shares.go",
		"\tr.dead = true // unless all goes well\n", "", "./privacy/shares TestOrder",
	},
	{
		"sums before do not matter to masks", "privacy/shares/shares.go",
		"Text(string(r.history)).Sum()", "Sum()", "./privacy/shares TestOtherQuestion",
	},
	{
		"the noise of those who collude counts", "privacy/shares/question.go",
		"len(t.Identities) - t.Colluding", "len(t.Identities)", "./privacy/shares TestNoise",
	},
	{
		"signed sums move by one row", "privacy/shares/question.go", "float64(q.Signs) * l1 * l1",
		"float64(q.Signs) * min(1, l1)", "./privacy/shares TestSmallTables",
	},
	{
		"a person is at one party", "privacy/shares/question.go", "*t.PerPerson", "",
		"./privacy/shares TestPerPerson",
	},
	{
		"sums cost more than the run", "privacy/shares/shares.go", "r.spent += q.Rho", "r.spent += 0",
		"./privacy/shares TestCharged",
	},
	{
		"the noise of those who collude counts in gradients", "privacy/shares/gradient.go",
		"len(t.Identities) - t.Colluding", "len(t.Identities)", "./privacy/shares TestGradientNoise",
	},
	{
		"a person's gradients are at one party", "privacy/shares/gradient.go", " * t.PerPerson", "",
		"./privacy/shares TestGradientSensitivity",
	},
	{
		"half the noise of a gradient", "privacy/shares/gradient.go", "math.Ceil(scale/sum.Grid)",
		"math.Ceil(scale/sum.Grid/2)", "./privacy/shares TestGradientNoise",
	},
	{
		"a gradient's coordinate with too little noise", "privacy/shares/gradient.go",
		"max(leastSteps, ", "max(1, ", "./privacy/shares TestGradientsThatAreNone",
	},
	{
		"a gradient is of whatever critic", "privacy/shares/gradient.go", "c.of.Floats(float64(w))",
		"_ = w", "./privacy/shares TestGradientsThatAreNone",
	},
	{
		"a gradient's price is of half its sensitivity", "privacy/shares/gradient.go",
		"c.cost.Sigma/z*", "c.cost.Sigma/z/2*", "./privacy/shares TestGradientNoise",
	},
	{
		"the sum of discrete Gaussians is one", "accountant/zcdp/shares.go", "tau += 10 *", "tau += 0 *",
		"./accountant/zcdp TestShares",
	},
	{
		"a discrete Gaussian of twice the exponent", "noise/discrete.go", "2 * t)", "t)",
		"./noise TestGamma",
	},
	{
		"sums are worth what is claimed", "release/sums.go", "!(delta <= budget.Delta*(1+1e-9))", "false",
		"./release TestVerifySums",
	},
	{
		"a randomised answer is not charged", "privacy/randomized/randomized.go",
		"access.Once(accountant.Laplace{Epsilon: epsilon})", "nil",
		"./privacy/randomized TestAnswerRefuses",
	},
	{
		"a randomised answer is drawn with twice its ε", "privacy/randomized/randomized.go",
		"noise.Select(rows.Source, scores, epsilon)", "noise.Select(rows.Source, scores, 2*epsilon)",
		"./privacy/randomized TestAnswer",
	},
	{
		"the true cell has twice its score", "privacy/randomized/randomized.go", "scores[truth] = 1",
		"scores[truth] = 2", "./privacy/randomized TestSmallTables",
	},
	{
		"a set has the true cell for certain", "privacy/randomized/randomized.go",
		"answer[i] = int64(named)", "answer[i] = max(int64(named), 1-scores[0])",
		"./privacy/randomized TestSmallTables",
	},
	{
		"answers about people whose number is secret", "privacy/randomized/randomized.go",
		"s.Neighbours().Adjacency != accountant.ReplaceOne", "false",
		"./privacy/randomized TestAnswerRefuses",
	},
	{
		"an answer about many rows", "privacy/randomized/randomized.go", "rows.Table().Rows() != 1",
		"false", "./privacy/randomized TestAnswerRefuses",
	},
	{
		"a respondent answers twice", "analysis/form.go", "r.Run = f.runOf(before)", "_ = before",
		"./analysis TestOneAnswer",
	},
	{
		"a second answer takes the next name", "analysis/form.go",
		"r.Run == name && r.Status == ledger.StatusVoid", "r.Run == name",
		"./analysis TestOneAnswer",
	},
	{
		"estimates are not debiased", "analysis/tally.go", "n * (lambda - q) / (p - q)", "n * lambda",
		"./analysis TestMeasurementsVary",
	},
	{
		"a local claim with a ledger", "release/collected.go", "len(m.Ledger) > 0 ||", "",
		"./analysis TestTally$",
	},
	{
		"a distance has half its sensitivity", "privacy/distance/distance.go", "delta += l1",
		"delta += l1 / 2", "./privacy/distance TestSmallTables",
	},
	{
		"contributions have half their sensitivity", "privacy/internal/access/query.go",
		"x = 1 // a unit", "x = .5 // a unit", "./privacy TestSmallTables",
	},
	{
		"Discover counts each row twice", "table/texts.go", "\t\tout[n]++\n", "\t\tout[n] += 2\n",
		"./privacy/text TestSmallTables",
	},
	{
		"a threshold has half its sensitivity", "privacy/threshold/threshold.go",
		"delta := float64(max(1, nb.MaxRowsPerUnit)) * (1 << access.EstimateBits)",
		"delta := float64(max(1, nb.MaxRowsPerUnit)) * (1 << access.EstimateBits) / 2",
		"./privacy/threshold TestSmallTables",
	},
	{
		"votes have half their sensitivity", "privacy/vote/vote.go", "one, two := 1.0, 1.0",
		"one, two := 0.5, 0.5", "./privacy/vote TestSmallTables",
	},
	{
		"votes of three have that of two", "privacy/vote/vote.go", "if classes > 2 {\n\t\tone",
		"if classes > 3 {\n\t\tone", "./privacy/vote TestSmallTables",
	},
	{
		"a check has half its sensitivity", "privacy/vote/vote.go",
		"accountant.Gaussian{NoiseMultiplier: a.CheckSigma}",
		"accountant.Gaussian{NoiseMultiplier: 2 * a.CheckSigma}", "./privacy/vote TestSmallTables",
	},
	{
		"a clipped row counts for two", "bounds/clip/clip.go",
		"int64(min(1, k.limit/norm) / bounds.WeightStep)",
		"int64(2 * min(1, k.limit/norm) / bounds.WeightStep)",
		"./privacy/gradient/clipped TestSmallTables",
	},
	{
		"equal Gaussian events cost as one", "accountant/composition.go",
		"\tmu2 += n / (e.NoiseMultiplier", "\tmu2 += 1 / (e.NoiseMultiplier",
		"./accountant/derive TestAgainstTheAccountant",
	},
	{
		"a filter costs μ for μ²", "accountant/composition.go", "mu2 += n * square(e.Mu)",
		"mu2 += n * e.Mu", "./accountant/derive TestAgainstTheAccountant",
	},
	{
		"full batches are blind to replacement", "accountant/composition.go", "scale = 4 ", "scale = 1 ",
		"./accountant/derive TestAgainstTheAccountant",
	},
	{
		"a selection costs half its μ²", "accountant/composition.go",
		"selectionsMu2 += n * square(rangeMu(e.Epsilon))",
		"selectionsMu2 += n * square(rangeMu(e.Epsilon)) / 2",
		"./accountant/pld TestClosedFormulasAreUpperBounds",
	},
	{
		"equal Gaussian events cost as one, by PLD", "accountant/pld/plan.go",
		"mu2 += float64(charge.Count) / (e.NoiseMultiplier", "mu2 += 1 / (e.NoiseMultiplier",
		"./accountant/derive TestAgainstTheAccountant",
	},
	{
		"a filter costs μ for μ², by PLD", "accountant/pld/plan.go",
		"mu2 += float64(charge.Count) * e.Mu * e.Mu", "mu2 += float64(charge.Count) * e.Mu",
		"./accountant/pld TestFilterComposesAsOneGaussian",
	},
	{
		"full batches are blind to replacement, by PLD", "accountant/pld/plan.go", "scale = 4\n",
		"scale = 1\n", "./accountant/pld TestFullBatchesInAMixedPlan",
	},
	{
		"the derivation counts a selection twice", "accountant/derive/derive.go",
		"half := product(number(.5), number(e.Epsilon))", "half := number(e.Epsilon)",
		"./accountant/derive TestAgainstTheAccountant",
	},
	{
		"halved replace-one Δ₁", "privacy/internal/access/query.go", "return x, 2 * x, math",
		"return x, x, math",
		"./privacy TestSelectFollowsTheExponentialMechanism",
	},
	{
		"replace-one Δ₂ without √2", "privacy/internal/access/query.go",
		"math.Nextafter(math.Sqrt2*x, math.Inf(1))", "x", "./privacy/bins TestMergeBinsKeepsNeighbours",
	},
	{
		"rows per unit forgotten", "privacy/neighbours.go", "nb.MaxRowsPerUnit = s.MaxRowsPerUnit",
		"nb.MaxRowsPerUnit = 1", "./privacy/gradient TestCertifiedSumKnowsItsRelation",
	},
	{
		"contribution not bounded", "privacy/rows.go", "seen[u] < k", "seen[u] < k+1",
		"./privacy/query TestHistogramOfUnits",
	},
	{
		"the first rows of a unit are kept", "privacy/rows.go", "src.Shuffle(len(order)", "src.Shuffle(0",
		"./privacy TestBoundUnitsIsUniform",
	},
	{
		"selection at twice ε", "privacy/select.go", "access.Down(epsilon, 2*delta)",
		"access.Down(epsilon, delta)", "./privacy TestSelectFollowsTheExponentialMechanism",
	},
	{
		"rows are read before the reservation", "privacy/session.go",
		"err := rows.read(ctx, s, func() error {",
		"rows.load(ctx, func() error { return nil })\n\terr := rows.read(ctx, s, func() error {",
		"./privacy TestBudgetIsCheckedBeforeReading",
	},
	{
		"plan not compared with the budget", "privacy/session.go",
		"if !(cost.Epsilon <= o.Budget.Epsilon) {",
		"if false {", "./privacy TestFilterIsReservedBeforeReading",
	},
	{
		"limit not asked", "ledger/state.go", "return s.allows(*e.Budget, e.Composition)", "return nil",
		"./privacy TestLimitAcrossRuns",
	},
	{
		"a run is paid twice", "privacy/account.go", "if len(linesOf(l, s.run)) > 0 {", "if false {",
		"./privacy TestRunIsPaidOnce",
	},
	{
		"strict reading in a private run", "privacy/rows.go", "s.Clone(), s.ForPrivate()",
		"s.Clone(), s.Clone()", "./privacy TestPrivateRowsAreReadLeniently",
	},
	{
		"rows are read with the header", "table/csv_split.go", "make([]byte, 1); err",
		"make([]byte, 64); err", "./table TestHeaderAlone",
	},
	{
		"an engine reads strictly", "internal/job/elsewhere.go", "s.ForPrivate().YAML()", "s.YAML()",
		"./internal/replay TestVerbs/counted_elsewhere/strict",
	},
	{
		"a run whose rows failed is free", "privacy/session.go", "err = s.Finish(err, nil)",
		"err = errors.Join(err, s.end(nil, ledger.StatusVoid))",
		"./privacy TestUnreadableRowsStaySpent",
	},
	{
		"rows that nobody paid for", "privacy/session.go",
		"} else if err == nil {\n\t\terr = errors.New(\"privacy: rows were",
		"} else if false {\n\t\terr = errors.New(\"privacy: rows were", "./privacy TestUnpaidRows",
	},
	{
		"an undelivered run is done", "privacy/session.go", "status := ledger.StatusDone\n\tif ",
		"status := ledger.StatusDone\n\tif deliver != nil {\n\t} else if ",
		"./privacy TestUndeliveredRunHasFailed",
	},
	{
		"a host in the ledger", "privacy/account.go", "e.Budget, e.Composition = &o.Budget, o.Plan",
		"e.Budget, e.Composition, e.Host = &o.Budget, o.Plan, \"h\"",
		"./privacy TestLedgersNameNoMachine",
	},
	{
		"a clock in the model's ledger", "privacy/account.go", "last = e.Clone().Seal(last)",
		"e.Time = s.lines[0].Time.Add(1e9); last = e.Seal(last)",
		"./privacy TestReleasedLedgerHasNoClock",
	},
	{
		"an answer is returned before it is kept", "privacy/release.go",
		"err = s.append(s.chargeEntries(r)",
		"defer s.append(s.chargeEntries(r)", "./privacy TestReplacedLedgerEndsTheRun",
	},
	{
		"an answer that was given is drawn again", "privacy/release.go", "case len(s.earlier) > 0:",
		"case len(s.earlier) > 3:", "./privacy TestResumeAtEveryByte",
	},
	{
		"a callback's failure is told", "privacy/query/cells.go",
		"if !cellsTo(block, rule, columns) {", "if !cellsTo(block, rule, columns) && false {",
		"./privacy/query TestForeignCodeTellsNothing",
	},
	{
		"any answer will do", "privacy/release.go", "r.Query != c.Of.Sum()", "false",
		"./privacy TestResumeOtherQuestion",
	},
	{
		"foreign panics get out", "privacy/internal/access/access.go", "defer func() { _ = recover() }()",
		"", "./privacy/query TestForeignCodeTellsNothing",
	},
	{
		"an old journal is taken", "privacy/account.go",
		"if len(logged) > len(bought) ||", "logged = logged[:min(len(logged), len(bought))]\n\t\tif",
		"./privacy TestResumeAtEveryByte",
	},
	{
		"an unfinished run is paid again", "privacy/account.go",
		"left != \"\" {", "false {",
		"./privacy TestUnfinishedIsNotPaidTwice",
	},
	{
		"a journal is another program's", "privacy/account.go", "string(j.Program) != o.Program {",
		"false {",
		"./privacy TestResumeRefuses",
	},
	{
		"a ledger that was replaced goes on", "privacy/account.go", "; there < len(s.lines) {",
		"; there < 0 {", "./privacy TestReplacedLedgerEndsTheRun",
	},
	{
		"runs hold ledgers to no rules", "ledger/chain.go", "err = rules(e)", "_ = rules(e)",
		"./privacy TestRunsHoldLedgersToTheRules",
	},
	{
		"the schema of private rows is shared", "privacy/rows.go",
		"s := t.Schema().Clone()", "s := t.Schema()",
		"./privacy TestNothingIsShared",
	},
	{
		"a caller's context is polled", "privacy/rows.go", "r.source(quiet,",
		"r.source(func() context.Context { _ = quiet; return ctx }(),",
		"./privacy/text TestNobodyCountsTheReading",
	},
	{
		"lock not taken", "ledger/file.go", "lock.TryLockContext(wait, 20*time.Millisecond)",
		"true, wait.Err()", "./privacy TestLimitAcrossRuns",
	},
	{
		"halved ellipsoid noise", "privacy/internal/ellipsoid/certified.go",
		"cert.ScalesTo(out.Scales, z)", "cert.ScalesTo(out.Scales, z/2)",
		"./privacy/gradient TestCertifiedSumNoise",
	},
	{
		"scaled input certified for half its reach", "privacy/gradient/certified.go",
		"bounds.Scalar(0, 1)", "bounds.Scalar(0, .5)", "./privacy/gradient TestCertifiedSumSensitivity",
	},
	{
		"sums of inputs in other steps", "privacy/internal/ellipsoid/certified.go",
		"inputs[i] *= int64(1 / cert.Factor())", "inputs[i] *= int64(2 / cert.Factor())",
		"./privacy/gradient TestCertifiedSumNoise",
	},
	{
		"a layer's products with the factors of another row", "gan/critic/pass.go",
		"row(p.x[l-1], i, p.c.sizes[l])", "row(p.x[l-1], 0, p.c.sizes[l])",
		"./internal/kernels TestSumsAreSumsOfRows",
	},
	{
		"δ of a layer from the scores before it", "gan/critic/pass.go",
		"kernels.DescendTo(d, p.S[l][:len(d)], p.c.slope)", "_ = d", "./gan TestCriticSums",
	},
	{"scaled input in other steps", "gan/critic/sum.go", "in = x", "in = 1", "./gan TestScaledSum"},
	{
		"CertifiedSum is not charged", "privacy/internal/ellipsoid/release.go",
		"access.Once(Event(rate, z))", "nil",
		"./privacy/gradient TestCertifiedSumRefuses",
	},
	{
		"samples more often than charged", "privacy/internal/ellipsoid/release.go",
		"math.Ldexp(rate, 63)",
		"math.Ldexp(min(1, 1.3*rate), 63)", "./privacy/internal/ellipsoid TestPoissonSample",
	},
	{
		"rows of a unit sampled apart", "privacy/internal/ellipsoid/release.go", "drawn[units[i]] = take",
		"_ = take", "./privacy/internal/ellipsoid TestPoissonSample",
	},
	{
		"certified for single rows",
		"privacy/internal/ellipsoid/certified.go",
		"UnitRows: max(1, nb.MaxRowsPerUnit)",
		"UnitRows: 1 + 0*max(1, nb.MaxRowsPerUnit)",
		"./privacy/gradient TestCertifiedSumKnowsItsRelation",
	},
	{
		"a continued run has its whole plan again", "privacy/release.go",
		"if err := s.take(r.Charges); err", "if err := error(nil); err",
		"./privacy TestContinuedRunHasNoMore",
	},
	{
		"an ended run is continued", "privacy/account.go", "if last.Kind == ledger.EntryClose {",
		"if false {",
		"./privacy TestUnfinishedIsNotPaidTwice",
	},
	{
		"people at several parties pay once", "release/join.go", "if people == MayOverlap {",
		"if false {", "./release TestJointClaim",
	},
	{
		"a joint claim leaves parties out", "release/join.go",
		"max(out.Epsilon, c.Epsilon), max(out.Delta, c.Delta)", "out.Epsilon, out.Delta",
		"./release TestJointClaim",
	},
	{
		"a run is joined twice", "release/join.go", "other, twice := runs[r.Run]; twice {",
		"other, twice := runs[r.Run]; twice && other == \"\" {", "./release TestJoinRefuses",
	},
	{
		"parties are joined under different relations", "release/join.go",
		"c.Adjacency != out.Adjacency || c.Unit", "c.Unit", "./release TestJointClaim",
	},
	{
		"a party's claim is not checked", "release/join.go", "of, err := verifyFile(one, price)",
		"of, err := verifyFile(one, price); err = nil", "./release TestJoin",
	},
	{
		"a joint claim may be any", "release/join.go", "if m.Claim != want {",
		"if m.Claim != want && rows < 0 {", "./release TestJoin",
	},
	{
		"a schema that another run reserved passes for a bought one", "release/verify.go",
		"return reserve.SchemaSHA256 == \"\" &&", "return true &&",
		"./release TestVerifyBoughtSchema",
	},
	{
		"a strict schema passes for a bought one", "release/verify.go", "m.schema.Lenient &&", "true &&",
		"./release TestVerifyBoughtSchema",
	},
	{
		"a schema that nobody paid for passes for a bought one", "release/verify.go",
		"return texts\n", "return texts || true\n", "./release TestVerifyBoughtSchema",
	},
	{
		"a declared schema passes for a bought one", "release/verify.go",
		"m.DeclaredYAML == \"\" && m.schema", "m.schema", "./release TestVerifyBoughtSchema",
	},
	{
		"aim goes on with more than is left", "synth/aim/plan.go", "p.mu, p.known = mu, known",
		"p.mu, p.known = 2*mu, known", "./synth TestContinue",
	},
	{
		"mst goes on with more than is left", "synth/mst/mst.go", "mu: mu, known: known}",
		"mu: 2 * mu, known: known}", "./synth TestContinue",
	},
	{
		"a method goes on with what the schema cost too", "synth/bought.go",
		"math.Sqrt(s.FilterLeft())", "1.01 * math.Sqrt(s.FilterLeft())", "./synth TestRunBought",
	},
	{
		"a run is continued with another plan", "privacy/account.go",
		"same.Tool = first.Tool", "same.Tool, same.Composition = first.Tool, first.Composition",
		"./privacy TestResumeRefuses",
	},
	{
		"shards drawn anew for each row of a unit", "privacy/vote/shards.go", "of[units[row]] = shard\n",
		"_ = shard\n", "./privacy/vote TestAudit_NoPartition",
	},
	{
		"one shard for all", "privacy/vote/shards.go", "int(draw(uint64(k)))", "0*int(draw(uint64(k)))",
		"./privacy/vote TestSplitIsUniform",
	},
	{
		"a split by position", "privacy/vote/shards.go", "int(draw(uint64(k)))", "row%k",
		"./privacy/vote TestSplitIsUniform",
	},
	{
		"every teacher sees all rows", "privacy/vote/shards.go", "shard := t.Select(rows)",
		"shard := t; _ = rows", "./privacy/vote TestAudit_NoPartition",
	},
	{
		"shards reshuffled", "privacy/release.go", "case s.held:", "case false:",
		"./privacy/vote TestAudit_ReshuffledShards",
	},
	{
		"halved noise on votes", "privacy/vote/aggregate.go",
		"n.count, err = noise.NewRoundedGaussian(a.Sigma); err",
		"n.count, err = noise.NewRoundedGaussian(a.Sigma / 2); err",
		"./privacy/vote TestAudit_NoiseOnVotes",
	},
	{
		"inverse noise on votes", "privacy/vote/aggregate.go", "noise.NewDiscreteLaplace(a.Laplace)",
		"noise.NewDiscreteLaplace(1 / a.Laplace)", "./privacy/vote TestAudit_NoiseOnVotes",
	},
	{
		"check without noise", "privacy/vote/aggregate.go", "top+n.check.Sample(src)",
		"top+0*n.check.Sample(src)", "./privacy/vote TestVoteCheckNoise",
	},
	{
		"vote is not charged", "privacy/vote/vote.go",
		"cost := Plan(a, b, 0)[:1]", "cost := Plan(a, b, 0)[:0]",
		"./privacy/vote TestAudit_EveryQueryIsCharged",
	},
	{
		"vote is charged once", "privacy/vote/vote.go",
		"cost := Plan(a, b, 0)[:1]", "cost := Plan(a, Ballot{1, b.Classes}, 0)[:1]",
		"./privacy/vote TestAudit_EveryQueryIsCharged",
	},
	{
		"answers are not charged", "privacy/vote/vote.go",
		"if err := payAnswers(more, answer, answered); err != nil {", "if answer == nil {",
		"./privacy/vote TestAudit_EveryQueryIsCharged",
	},
	{
		"histogram with the sensitivity of a count", "privacy/vote/vote.go",
		"one, two = 2, math.Nextafter(math.Sqrt2, 2)", "one, two = 1, min(1, math.Sqrt2)",
		"./privacy/vote TestReferenceCosts",
	},
	{
		"teachers are asked before the charge", "privacy/vote/vote.go", "\tquestion := access.Ask(",
		"\tsh.votes(b, shown)\n\tquestion := access.Ask(",
		"./privacy/vote TestAudit_BudgetIsCheckedBeforeTheVote",
	},
	{
		"a row out of range counts nowhere", "privacy/query/cells.go",
		"counts[min(int64(cell), int64(size-1))]++", "if int(cell) < size { counts[cell]++ }",
		"./privacy/query TestHistogramCounts",
	},
	{
		"a block counted twice", "privacy/query/cells.go", "from += cellBlock {",
		"from += cellBlock / 2 {",
		"./privacy/query TestHistogramCounts",
	},
	{
		"contributions under replace-one without √2", "privacy/internal/access/query.go",
		"math.Nextafter(math.Sqrt2*x, math.Inf(1))", "x", "./privacy/query TestContributionsSensitivity",
	},
	{
		"contributions count rows", "privacy/query/query.go", "counts[at]++", "counts[at] += int64(n)",
		"./privacy/query TestContributionsSensitivity",
	},
	{
		"halved noise of distances", "privacy/distance/distance.go",
		"math.Ldexp(sigma, access.EstimateBits)", "math.Ldexp(sigma, access.EstimateBits-1)",
		"./privacy/distance TestDistanceNoise",
	},
	{
		"a distance is not charged", "privacy/distance/distance.go",
		"access.Once(event(s.Neighbours(), kinds, sigma))", "nil",
		"./privacy/distance TestDistanceIsChargedBeforeReading",
	},
	{
		"a distance has the sensitivity of one marginal", "privacy/distance/distance.go", "delta += l1",
		"delta = l1", "./privacy/distance TestDistanceSensitivity",
	},
	{
		"a round is not charged", "privacy/threshold/threshold.go", "access.Once(Event(epsilon))", "nil",
		"./privacy/threshold TestThresholdIsChargedOnce",
	},
	{
		"a round goes on after a yes", "privacy/threshold/threshold.go",
		"r.spent = answer[0] == 1\n\treturn r.spent, nil", "return answer[0] == 1, nil",
		"./privacy/threshold TestThresholdIsChargedOnce",
	},
	{
		"a threshold without noise", "privacy/threshold/threshold.go",
		"secret := rows + once.Sample(in.Source)", "secret := rows + 0*once.Sample(in.Source)",
		"./privacy/threshold TestThresholdFollowsItsLaw",
	},
	{
		"a fresh threshold for each question", "privacy/threshold/threshold.go",
		"r.secret = func() int64 { return secret }",
		"r.secret = func() int64 { return rows + once.Sample(in.Source) + 0*secret }",
		"./privacy/threshold TestThresholdIsDrawnOnce",
	},
	{
		"halved noise on questions", "privacy/threshold/threshold.go",
		"noise.NewDiscreteLaplace(access.Up(4*delta, epsilon))",
		"noise.NewDiscreteLaplace(access.Up(2*delta, epsilon))",
		"./privacy/threshold TestThresholdFollowsItsLaw",
	},
	{
		"rounds assume single rows", "privacy/threshold/threshold.go",
		"delta := float64(max(1, nb.MaxRowsPerUnit)) * (1 << access.EstimateBits)",
		"delta := float64(1 << access.EstimateBits)", "./privacy/threshold TestThresholdFollowsItsLaw",
	},
	{
		"halved noise of clipped sums", "privacy/gradient/clipped/clipped.go",
		"cert.ScalesTo(sum.Scales, z)", "cert.ScalesTo(sum.Scales, z/2)",
		"./privacy/gradient/clipped TestClippedSumNoise",
	},
	{
		"ClippedSum is not charged", "privacy/internal/ellipsoid/release.go",
		"access.Once(Event(rate, z))", "nil",
		"./privacy/gradient/clipped TestClippedSumRefuses",
	},
	{
		"clipped for single rows",
		"privacy/gradient/clipped/clipped.go",
		"UnitRows: max(1, nb.MaxRowsPerUnit)",
		"UnitRows: 1 + 0*max(1, nb.MaxRowsPerUnit)",
		"./privacy/gradient/clipped TestClippedSumRefuses",
	},
	{
		"halved noise of penalties", "privacy/gradient/clipped/penalty.go",
		"cert.ScalesTo(sum.Scales, p.Multiplier(z))", "cert.ScalesTo(sum.Scales, p.Multiplier(z)/2)",
		"./privacy/gradient/clipped TestPenaltySumNoise",
	},
	{
		"penalty for single rows", "privacy/gradient/clipped/penalty.go",
		"UnitRows: max(1, nb.MaxRowsPerUnit)", "UnitRows: 1 + 0*max(1, nb.MaxRowsPerUnit)",
		"./privacy/gradient/clipped TestPenaltySumSensitivity",
	},
	{
		"penalty on top of the gradient", "privacy/gradient/clipped/penalty.go",
		"return slack * z / math.Sqrt(1-p.Share)", "return z",
		"./privacy/gradient/clipped TestPenaltyMultipliers",
	},
	{
		"penalties at points that are known", "privacy/gradient/clipped/penalty.go",
		"noise.NewSource().Uint64, cert.Weight",
		"func() uint64 { return 7 + 0*noise.NewSource().Uint64() }, cert.Weight",
		"./privacy/gradient/clipped TestPenaltyWordsAreFresh",
	},
	{
		"sums may overflow", "bounds/propagate.go", "if !(sum <= largestSum) {", "if sum != sum {",
		"./privacy/gradient/clipped TestOverflowingNetworksAreRefused",
	},
	{
		"back-propagated sums may overflow", "bounds/propagate.go", "r.sum = max(r.sum, size)\n",
		"_ = size\n", "./bounds TestEachSumIsBounded",
	},
	{
		"a penalty's sums may overflow", "bounds/penalty/penalty.go", "CheckSum(largestSum(n, sizes))",
		"CheckSum(0*largestSum(n, sizes))",
		"./privacy/gradient/clipped TestOverflowingNetworksAreRefused",
	},
	{
		"a clipper counts 2²⁰ terms", "bounds/clip/clip.go", "Gamma(len(scales) + 16)",
		"Gamma(min(len(scales), 1<<20) + 16)", "./bounds/clip TestClipperCountsAllItsTerms",
	},
	{
		"the last rows of a batch have infinities of their own", "internal/kernels/relu.go",
		"if y := slope * x; y > x {", "if y := slope * x; !(y <= x) {",
		"./internal/kernels TestSumsAreSumsOfRows",
	},
	{
		"penalty of any share", "privacy/gradient/clipped/penalty.go", "!(p.Share > 0 && p.Share < 1)",
		"!(p.Share == p.Share)", "./privacy/gradient/clipped TestPenaltySumRefuses",
	},
	{
		"penalties are clipped at twice the norm", "bounds/penalty/penalty.go",
		"int64(min(1, p.limit/norm) / bounds.WeightStep)",
		"int64(min(1, 2*p.limit/norm) / bounds.WeightStep)",
		"./bounds/penalty TestPenaltyRowsAreInTheEllipsoid",
	},
	{
		"penalty knows no replace-one", "bounds/penalty/penalty.go", "out.limit /= 2", "",
		"./bounds/penalty TestPenaltyNeighbours",
	},
	{
		"a layer's norm from below", "bounds/penalty/spectral.go", "largestEigenvalue(g, n, 3)",
		"largestEigenvalue(g, n, 3)/2", "./bounds/penalty TestSpectralNormAgainstSVD",
	},
	{
		"a spectral norm without its square", "bounds/penalty/spectral.go", "square := gram(h, n)",
		"square := h", "./bounds/penalty TestSpectralNormAgainstSVD",
	},
	{
		"large factors of clipped rows are cut", "gan/critic/clipped/clipped.go",
		"narrow = narrow && row[j] == int64(int32(row[j]))", "", "./gan TestClippedSumOfLargeFactors",
	},
	{
		"rows are clipped at twice the norm", "bounds/clip/clip.go",
		"int64(min(1, k.limit/norm) / bounds.WeightStep)",
		"int64(min(1, 2*k.limit/norm) / bounds.WeightStep)",
		"./bounds/clip TestClippedRowsAreInTheEllipsoid",
	},
	{
		"cells that end too early", "noise/cells.go", "t.begins[n+1] < u {",
		"t.begins[n+1] < u+1<<57 {", "./noise TestCellLaw",
	},
	{
		"cells beyond the table are one", "noise/cells.go", "if n < tableCells && u <",
		"if n == tableCells || u <", "./noise TestCellIsInversion",
	},
	{
		"half of the noise has no sign", "noise/rounded.go", "-int64(w & 1)",
		"-int64(w & (w >> 1) & 1)", "./noise TestLaw",
	},
	{
		"where cells begin, rounded inward", "noise/cells.go",
		"high.Rsh(high, point).Add(high, big.NewInt(1))", "high.Rsh(high, point)", "./noise TestTimes",
	},
	{
		"Gaussian rounded to the other cell", "noise/rounded.go", "1<<(s-1)", "1<<(s-2)",
		"./noise TestRound",
	},
	{
		"half the noise on a vector", "privacy/internal/ellipsoid/vector.go", "sigma / e.Grid",
		"sigma / e.Grid / 2", "./privacy/internal/ellipsoid TestNoisedSumLaw",
	},
	{
		"twice the noise where it is rounded", "noise/rounded.go", "uint(-e)}", "uint(-e) - 1}",
		"./noise TestLaw",
	},
	{
		"half a gap", "noise/select.go", "uint(max(-e, 0))", "uint(max(1-e, 0))",
		"./noise TestKeepGap",
	},
	{
		"the whole part of a gap is free", "noise/bernoulli.go", "whole.Sign() > 0;",
		"whole.Sign() > 1;", "./noise TestExpMinus",
	},
	{
		"a trial of Algorithm 1 too likely", "noise/laplace.go", "b.uniform(den) < num {",
		"b.uniform(den) <= num {", "./noise TestDiscreteLaplaceIsTheProvedOne",
	},
	{
		"zero is drawn twice as often", "noise/laplace.go", "} else if !zero {",
		"} else if true || zero {", "./noise TestDiscreteLaplaceIsTheProvedOne",
	},
	{
		"exp(−1) counts from the wrong trial", "noise/bernoulli.go", "k := uint64(2)\n\tfor b.oneIn(k) {",
		"k := uint64(3)\n\tfor b.oneIn(k) {", "./noise TestDiscreteGaussianIsTheProvedOne",
	},
	{
		"one part of x decides for all", "noise/rounded.go", "for range parts(n) {",
		"for range min(1, parts(n)) {", "./noise TestKeepFractionExactly",
	},
	{
		"one family of a network is charged", "synth/bayes/bayes.go", "Count: len(p.families)}",
		"Count: 1}", "./synth/bayes TestEveryFamilyIsCharged",
	},
	{
		"halved Laplace scale", "noise/laplace.go", "shift: uint(-e)}", "shift: uint(-e) + 1}",
		"./noise TestQuotient",
	},
	{
		"halved cost of a selection", "accountant/zcdp/zcdp.go", "rho = e.Epsilon * e.Epsilon / 8",
		"rho = e.Epsilon * e.Epsilon / 16", "./ledger TestAllows",
	},
	{
		"a limit in zCDP that nothing prices lets all runs through", "ledger/internal/bound/bound.go",
		"return math.Inf(1)", "return math.Inf(-1)", "./ledger TestAllows",
	},
	{
		"unsigned limits of a ledger that names a key", "ledger/state.go",
		"key := cmp.Or(s.limit.Key, e.Key)", "key := cmp.Or(e.Key)", "./ledger/signature TestTampering",
	},
	{
		"a first limit names another's key", "ledger/state.go", "key := cmp.Or(s.limit.Key, e.Key)",
		"key := cmp.Or(s.limit.Key)", "./ledger/signature TestTampering",
	},
	{
		"a signed limit moves to another place", "ledger/signature/signature.go",
		"e.Hash, e.Signature = \"\", \"\"", "e.Hash, e.Signature, e.Seq, e.Prev = \"\", \"\", 0, \"\"",
		"./ledger/signature TestTampering",
	},
	{
		"a ledger verifies with a charge repeated", "accountant/reservation.go",
		"\t\tr.left[c.Event] -= c.Count\n", "", "./ledger TestVerify",
	},
	{
		"half-widths of products halved", "bounds/measure.go", "float64(max(last-first+1, 2))/2*b.Grid",
		"float64(max(last-first+1, 2))/4*b.Grid", "./bounds TestNeighboursStayWithinTheCertificate",
	},
	{
		"centres of products at an end", "bounds/measure.go",
		"middle := float64(max(last-first+1, 2))/2*b.Grid, first+last",
		"middle := float64(max(last-first+1, 2))/2*b.Grid, 2*last",
		"./bounds TestNeighboursStayWithinTheCertificate",
	},
	{
		"the nearer end of δ", "bounds/measure.go", "if hi <= 0 {\n\t\t\tout.far[i] = lo",
		"if hi > 0 {\n\t\t\tout.far[i] = lo", "./bounds TestNeighboursStayWithinTheCertificate",
	},
	{
		"δ of either sign taken for one", "bounds/measure.go",
		"inside = inside || lo < 0 && hi > 0 || out.far[i] == 0", "inside = inside || out.far[i] == 0",
		"./bounds TestNeighboursStayWithinTheCertificate",
	},
	{
		"roots in float32 rounded down", "bounds/internal/ellipsoid/ellipsoid.go", "(1+0x1p-22)*e.Factor",
		"(1-0x1p-22)*e.Factor", "./bounds TestUnitsAgainstBruteForce",
	},
	{
		"halved certificate", "bounds/measure.go", "b.Factor = inflate * float64(c.UnitRows)",
		"b.Factor = inflate * 0.5 * float64(c.UnitRows)", "./bounds TestBallShrinksWithTheRadius",
	},
	{
		"merged bins forget the units", "privacy/bins/bins.go", "table.FromColumns(to, cols, t.Units())",
		"table.FromColumns(to, cols, nil)", "./privacy/bins TestMergeBins",
	},
	{
		"counts of finer bins are remembered", "privacy/release.go",
		"func() *table.Table { return t }, nil", "func() *table.Table { return t }, s.exact",
		"./privacy/bins TestMergeBins",
	},
	{
		"bins take twice their share", "synth/bins.go", "Epsilon: c.BuyShare * budget.Epsilon,",
		"Epsilon: 2 * c.BuyShare * budget.Epsilon,", "./synth TestBinsPlan",
	},
	{
		"the filter of bins and fit is twice the budget", "synth/bins.go",
		"p.filter = whole\n", "p.filter = 2 * whole\n", "./synth TestBinsPlan",
	},
	{
		"bins are not in the plan", "synth/bins.go",
		"return append(p.purchase(), p.Plan.Composition()...)\n", "return p.Plan.Composition()\n",
		"./synth TestBinsPlan",
	},
	{
		"a choice of a database is not charged", "privacy/database/database.go",
		"access.Once(Event(epsilon))", "nil", "./privacy/database TestDatabaseIsChargedBeforeReading",
	},
	{
		"a choice of a database at twice ε", "privacy/database/database.go",
		"access.Down(epsilon, 2*delta*", "access.Down(epsilon, delta*",
		"./privacy/database TestDatabaseLaw",
	},
	{
		"Select forgets weights", "privacy/select.go", "float64(g.weight)*g.delta*",
		"float64(min(g.weight, 1<<weightBits))*g.delta*", "./privacy TestQuerySelectionLaw",
	},
	{
		"a foreign query is taken", "privacy/internal/access/query.go",
		"if err == nil && (c.counted == nil ||", "if c.counted == nil {\n\t\t\tc = Seal(" +
			"Counted{Cells: 1}, sizes, units)\n\t\t}\n\t\tif err == nil && (",
		"./privacy TestForeignQueries",
	},
	{
		"a query for another schema is taken", "privacy/internal/access/query.go",
		"|| !slices.Equal(c.sizes, sizes)", "", "./privacy TestQueriesAreOfTheSchema",
	},
	{
		"a query's panic ends the process", "privacy/query.go", "ended := access.Guard(func() {",
		"ended := func(do func()) bool { do(); return true }(func() {",
		"./privacy TestCountingTellsNothing",
	},
	{
		"events that leak all are free", "accountant/composition.go", "if leak.sum() > delta {",
		"if false {", "./accountant TestLeaksAreNotFree",
	},
	{
		"a refused call keeps its first charges", "privacy/release.go",
		"left := s.left.Clone()", "left := s.left",
		"./privacy TestRefusedCallsTakeNothing",
	},
	{
		"units of no rows are not there", "privacy/text/text.go", `err == nil && sch.Unit != ""`,
		"err == nil && data.Units != nil", "./privacy/text TestUnitsOfNoRows",
	},
	{
		"a query is charged as it says", "privacy/measure.go", "s.nb.measureEvent(q.Kind, sigma)",
		"s.nb.MeasureEvent(qs[0], sigma)", "./privacy TestForeignQueries",
	},
	{
		"a group is shared with the caller", "privacy/marginal.go", "cols := slices.Clone(m.Cols)",
		"cols := m.Cols", "./privacy TestExpressionsAreCopies",
	},
	{
		"rows are counted before the charge", "privacy/select.go",
		"\tof := access.Ask(\"select\").Floats(epsilon)\n",
		"\ts.rows().Counts(queries)\n\tof := access.Ask(\"select\").Floats(epsilon)\n",
		"./privacy TestQueriesAreChargedBeforeReading",
	},
	{
		"a choice of a database sums errors", "privacy/database/database.go",
		"worst = max(worst, d, -d)", "worst += max(d, -d)", "./privacy/database TestDatabaseLaw",
	},
	{
		"halved noise of Discover", "privacy/text/values.go", "c.rows += g.Sample(src);",
		"c.rows += g.Sample(src) / 2;", "./privacy/text TestTextNoise",
	},
	{
		"Discover's threshold is one lower", "privacy/text/values.go", "return int64(hi)",
		"return int64(hi) - 1", "./privacy/text TestSelectionThreshold",
	},
	{
		"Discover's threshold for single rows", "privacy/text/values.go",
		"k*releaseProbability(threshold-1, d.Sigma) > d.Delta",
		"releaseProbability(threshold-1, d.Sigma) > d.Delta", "./privacy/text TestSelectionThreshold",
	},
	{
		"Discover in the order of appearance", "privacy/text/values.go",
		"bytes.Compare(a.Text, b.Text)", "0 * bytes.Compare(a.Text, b.Text)",
		"./privacy/text TestSelectionOrder",
	},
	{
		"Discover tells of texts of no row", "privacy/text/values.go", "if rows == 0 || len", "if len",
		"./privacy/text TestSelectionNeedsARow",
	},
	{
		"Discover's delta is not charged", "privacy/text/values.go",
		"w.events(s.Neighbours(), d)...)", "w.events(s.Neighbours(), d)[:1]...)",
		"./privacy/text TestSelectionIsChargedInFull",
	},
	{
		"another table may spell texts", "privacy/text/far.go", "if !ok {\n\t\t\t\t\treturn",
		"if !ok && n < 0 {\n\t\t\t\t\treturn", "./privacy/text TestFarIsOneTable",
	},
	{
		"Kinds are not charged", "privacy/text/describe.go",
		"access.Once(s.Neighbours().MeasureEvent(privacy.Marginal{}, sigma))",
		"access.Once(s.Neighbours().MeasureEvent(privacy.Marginal{}, sigma))[:0]",
		"./privacy/text TestTextChargeBeforeReading",
	},
	{
		"no noise in Kinds", "privacy/text/describe.go", "\tg.AddTo(counts, in.Source)\n", "\t_ = g\n",
		"./privacy/text TestTextNoise",
	},
	{
		"no noise in the magnitudes", "privacy/text/values.go", "\tg.AddTo(e.magnitudes, src)\n", "",
		"./privacy/text TestTextNoise",
	},
	{
		"a number is a magnitude and a text", "privacy/text/values.go",
		"magnitudes[at] += rows\n\t\t\tcontinue", "magnitudes[at] += rows",
		"./privacy/text TestTextSensitivity",
	},
	{
		"texts are released at no delta", "privacy/text/values.go", "MaxSelected || !w.Texts",
		"MaxSelected",
		"./privacy/text TestTextsNeedDelta",
	},
	{
		"a schema may say that a unit has more rows", "privacy/text/describe.go",
		"to.Unit != s.unit || nb != s.Neighbours()", "to.Unit != s.unit || nb == (privacy.Neighbours{})",
		"./privacy/text TestAs",
	},
	{
		"units of texts are not bounded", "privacy/text/text.go",
		"data = data.Select(bound(data.Units))", "bound(data.Units)",
		"./privacy/text TestTextUnitsAreBounded",
	},
	{
		"a mode is the caller's", "privacy/gradient/certified.go", "p.Mode = p.Mode.Own()",
		"p.Mode.Own()", "./privacy/gradient TestModeIsThatWhichWasChecked",
	},
	{
		"rows are the caller's", "privacy/session.go", "rows := &own", "rows, _ := r, own",
		"./privacy TestRowsAreThoseThatWereChecked",
	},
	{
		"progress counts the results", "analysis/validate.go", "\t\t// before: of a block",
		"\t\tx := o.Statistic.Of(t)\n\t\t_ = x\n\t\t// before: of a block",
		"./analysis TestProgressTellsNoPanics",
	},
	{
		"texts are read before the reservation", "privacy/text/text.go", "\tt, data := *given,",
		"\tgiven.load(ctx, func() error { return nil })\n\tt, data := *given,",
		"./privacy/text TestTextChargeBeforeReading",
	},
	{"a timestamp in the model", "release/model.go", "Created: reserve.Time,", "Created: time.Now(),",
		"./internal/replay TestVerbs/fit/strict"},
	{
		"the reservation has a clock", "privacy/session.go", "o.Day.UTC().Truncate(24 * time.Hour)",
		"o.Day.UTC()", "./internal/replay TestVerbs/evaluate/strict",
	},
	{"a size in the manifest", "release/file.go", "\tmanifest, err := json.MarshalIndent(",
		"\tif f, err := os.Stat(\"in.csv\"); err == nil {\n\t\tm.Tool += " +
			"fmt.Sprint(f.Size())\n\t}\n\tmanifest, err := json.MarshalIndent(",
		"./internal/replay TestMethods/wgan/strict"},
	{"the size of the table in the talk", "cmd/decoy/talk.go", "\tif !t.quiet {\n\t\tfmt",
		"\tif f, err := os.Stat(\"in.csv\"); err == nil {\n\t\tformat += fmt.Sprint(\" \", " +
			"f.Size())\n\t}\n\tif !t.quiet {\n\t\tfmt",
		"./internal/replay TestVerbs/schema_units/units"},
	{"a count of rows in the talk", "privacy/rows.go", "\ts.data, s.report = ",
		"\treport.Ignored = append(report.Ignored, t.Rows())\n\ts.data, s.report = ",
		"./internal/replay TestVerbs/fit/strict"},
	{
		"a count of rows in the ledger", "privacy/account.go", "Label: r.What, Event",
		"Label: fmt.Sprint(r.What, s.data().Rows()), Event", "./internal/replay TestMethods/mst/units",
	},
	{
		"a number of entries that rows decide", "privacy/account.go", "range r.Charges {\n\t\t\tout",
		"range append(r.Charges, r.Charges[:s.data().Rows()%2]...) {\n\t\t\tout",
		"./internal/replay TestMethods/mst/strict",
	},
	{
		"a question that rows decide", "privacy/measure.go", "access.Ask(\"measure\").Floats(sigma)",
		"access.Ask(\"measure\").Ints(int64(s.data().Rows()))",
		"./internal/replay TestMethods/wgan/strict",
	},
	{
		"an empty table is refused", "privacy/rows.go",
		"\ts.data, s.report = func() *table.Table { return t }, report\n",
		"\tif t.Rows() == 0 {\n\t\treturn access.ErrPrivate\n\t}\n" +
			"\ts.data, s.report = func() *table.Table { return t }, report\n",
		"./internal/replay TestVerbs/fit/nobody",
	},
	{
		"lines of progress by the clock", "cmd/decoy/talk.go", "if p.private && !p.bar {",
		"if p.long && !p.bar {", "./internal/replay TestVerbs/standard_input/strict",
	},
	{
		"ends of jobs as they come", "cmd/decoy/batch_show.go", "\tp.ends[i] = r\n", "\tp.say(r)\n",
		"./cmd/decoy TestEndsAreSaidInOrder",
	},
	{
		"the time in the state of a batch", "internal/job/worker.go",
		"statusOf(err), \"\", t.sampling()\n", "statusOf(err), \"\", t.sampling()+time.Now().String()\n",
		"./internal/replay TestBatch/batch/strict",
	},
	{
		"a rule about a column that the file lacks lasts for the rows behind", "table/related.go",
		"\t\t\tr.codes[i] = r.absent[i]\n", "\t\t\t_ = r.absent[i]\n", "./table TestRelatedAbsent",
	},
	{
		"a cell without a value has that of the row before", "table/related.go",
		"r.codes[i], r.x[i] = code, math.NaN() }", "r.codes[i] = code }",
		"./table FuzzRelatedNeighbours",
	},
	{
		"a difference below its least is a large one", "schema/rowcodec.go",
		"encodeNumber(d)", "encodeNumber(math.Abs(d))",
		"./table TestRelatedRefusesOrMends",
	},
	{
		"a row that breaks a rule ends a lenient run", "schema/rowcodec.go",
		"c.column.OnInvalid == Refuse && !r.lenient", "c.column.OnInvalid == Refuse",
		"./table TestRelatedRefusesOrMends",
	},
	{
		"a row that breaks a rule is kept as it is", "schema/rowcodec.go",
		"codes[t.column] = t.nearest(allow, codes[t.column])", "t.nearest(allow, codes[t.column])",
		"./table TestRelatedRefusesOrMends",
	},
	{
		"of cells that are one, the last of another engine's counts stays", "privacy/counted/counted.go",
		"counts[k] += from.Counts[i]", "counts[k] = from.Counts[i]", "./privacy TestJointCounts",
	},
	{
		"the first column of another engine's counts is left out", "privacy/counted/counted.go",
		"at >= 0 {", "at > 0 {", "./privacy TestJointCounts",
	},
	{
		"another engine's counts may be of several tables", "internal/engine/engine.go",
		"if rows != s.rows {", "if rows < s.rows-9 {", "./privacy TestJointIsOneTable",
	},
	{
		"another engine's counts may be below zero", "internal/engine/engine.go", "if n < 0 {",
		"if n < -9 {", "./privacy TestJointIsOneTable",
	},
	{
		"an answer from elsewhere may have more numbers", "internal/engine/engine.go",
		"len(answer) > n && !q.Listed", "false", "./privacy TestJointSums",
	},
	{
		"a sample is summed elsewhere over all rows", "privacy/internal/ellipsoid/release.go",
		"rate != 1 || s.Ask == nil", "s.Ask == nil", "./privacy/internal/ellipsoid TestSumElsewhere",
	},
	{
		"sums elsewhere are of no rows", "privacy/internal/ellipsoid/release.go",
		"s.From(answer, int(n[0]))", "s.From(answer, 0)",
		"./privacy/internal/ellipsoid TestSumElsewhere",
	},
	{
		"another grid is asked for than was certified", "privacy/internal/ellipsoid/certified.go",
		"Factor: cert.Factor(), Inputs", "Factor: 2 * cert.Factor(), Inputs",
		"./privacy/internal/ellipsoid TestSumElsewhere",
	},
	{
		"biases are left out of what is asked", "privacy/internal/ellipsoid/certified.go",
		"l.Weights...), l.Bias...)", "l.Weights...), make([]float32, len(l.Bias))...)",
		"./privacy/internal/ellipsoid TestSumElsewhere",
	},
	{
		"tasks use the kernels of their processors", "internal/kernels/kernels.go",
		"	plain = true\n", "	plain = false\n", "./internal/kernels TestPlainIsIEEE",
	},
	{
		"an answer from elsewhere may be of other rows", "internal/engine/engine.go",
		"&& rows != s.rows", "&& rows < 0", "./privacy TestJointSums",
	},
	{
		"rows that are counted elsewhere are lent", "privacy/release.go", "case s.joint != nil:",
		"case s.joint != nil && s.closed:", "./privacy TestJointRefuses",
	},
	{
		"how far another engine is leaves", "internal/engine/helper/helper.go",
		"case progress != nil:\n\t\t\tprogress(r.Progress)", "default:\n\t\t\tprintln(r.Progress)",
		"./internal/replay TestVerbs/counted_elsewhere/strict",
	},
	{
		"rows print", "privacy/rows.go",
		"func (r *Rows) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }", "",
		"./privacy TestNothingPrintsARow",
	},
	// What follows switches on with the size of a table, the relation, or a resumption.
	{
		"no noise in empty cells of large marginals", "privacy/measure.go",
		"g.AddTo(counts, rows.Source)",
		"for i, n := range counts {\n\t\t\tif n != 0 || len(counts) <= 1<<14 {\n" +
			"\t\t\t\tg.AddTo(counts[i:i+1], rows.Source)\n\t\t\t}\n\t\t}",
		"./internal/replay TestBigMethods/mst/big",
	},
	{
		"shards by the number of the row, above 32", "privacy/vote/shards.go",
		"shard = int(draw(uint64(k)))",
		"if shard = int(draw(uint64(k))); k > 32 {\n\t\t\t\tshard = row % k\n\t\t\t}",
		"./internal/replay TestBigMethods/pategan/big",
	},
	{
		"every seventh row is in every batch of a large table", "privacy/internal/ellipsoid/release.go",
		"\t\tif take {", "\t\tif take || t.Rows() > 1000 && i%7 == 0 {",
		"./internal/replay TestBigMethods/wgan/big#01",
	},
	{
		"a resumed run tells whether its rows are odd", "privacy/session.go",
		"\t\treturn &Session{s}, nil\n",
		"\t\tif o.Resume && s.data != nil && s.data().Rows()%2 == 1 {\n\t\t\tprintln()\n\t\t}\n" +
			"\t\treturn &Session{s}, nil\n",
		"./internal/replay TestBigVerbs/resume/big",
	},
	{
		"halved Laplace noise above 50,000 rows", "privacy/laplace/laplace.go",
		"counts[i] += lap.Sample(rows.Source)",
		"counts[i] += lap.Sample(rows.Source) / int64(1+rows.Table().Rows()/50_000)",
		"./internal/replay TestBigMethods/bayes/big_replaced",
	},
	{
		"one row more of each unit of a large table", "privacy/rows.go", "seen[u] < k {",
		"seen[u] < k || seen[u] == k && len(units) > 1000 {",
		"./internal/replay TestBigMethods/mst/big_units",
	},
	{
		"scores of large marginals count twice", "privacy/select.go", "scores[i] = g.score(counts[i])",
		"scores[i] = g.score(counts[i]) * int64(1+len(counts[i])>>14)",
		"./internal/replay TestBigMethods/mst/big",
	},
	{
		"votes from the fiftieth on have no noise", "privacy/vote/vote.go",
		"noise.addNoise(row[1:], in.Source)",
		"if i < 50 {\n\t\t\t\t\tnoise.addNoise(row[1:], in.Source)\n\t\t\t\t}",
		"./internal/replay TestBigMethods/pategan/big",
	},
	{
		"coordinates from the 300th on have no noise", "privacy/internal/ellipsoid/vector.go",
		"noise.AddEachTo(dst, n.noise, src)",
		"noise.AddEachTo(dst[:min(len(dst), 300)], n.noise, src)",
		"./internal/replay TestBigMethods/wgan/big",
	},
	{
		"large numbers of a magnitude have no noise", "privacy/text/values.go",
		"\tg.AddTo(e.magnitudes, src)\n",
		"\tfor i, n := range e.magnitudes {\n\t\tif n < 1000 {\n" +
			"\t\t\tg.AddTo(e.magnitudes[i:i+1], src)\n\t\t}\n\t}\n",
		"./internal/replay TestBigVerbs/schema_infer/big",
	},
	{
		"gradients of a logistic regression double above 50,000 rows", "privacy/logistic/problem.go",
		"one := int64(1) << bits", "one := int64(1) << (bits + min(1, last/50_000))",
		"./internal/replay TestBigVerbs/train/big",
	},
	{
		"halved noise where a row is replaced in a large marginal", "privacy/measure.go",
		"g, err := noise.NewRoundedGaussian(sigma)",
		"if s.nb.Adjacency == accountant.ReplaceOne && s.data != nil && s.data().Rows() > 50_000 {\n" +
			"\t\tsigma /= 2\n\t}\n\tg, err := noise.NewRoundedGaussian(sigma)",
		"./internal/replay TestBigMethods/mst/big_replaced",
	},
	{
		"a minimum stops early above 20,000 rows", "privacy/logistic/minimum.go", "if k >= steps &&",
		"if k >= steps/4 && n > 20_000 || k >= steps &&", "./privacy/logistic TestMinimumIsNear",
	},
	{
		"a line above 4 MiB is no row", "table/csv_lenient.go", "long := len(line) > maxRecord(",
		"if len(line) > 4<<20 {\n\t\t\tcontinue\n\t\t}\n\t\tlong := len(line) > maxRecord(",
		"./table TestLenientLongLines",
	},
	{
		"a line above 4 MiB is two rows", "table/csv_lenient.go", "long := len(",
		"if len(line) > 4<<20 { p.lenientRow(&out.part, nil, false, false) }; long := len(",
		"./table TestLenientLongLines",
	},
	{
		"halved noise where a column has dates", "privacy/measure.go",
		"\t\tg.AddTo(counts, rows.Source)\n",
		"\t\tfor _, c := range s.schema.Columns {\n\t\t\tif fmt.Sprint(c.Kind) == \"date\" {\n" +
			"\t\t\t\tg, _ = noise.NewRoundedGaussian(sigma / 2)\n\t\t\t}\n\t\t}\n" +
			"\t\tg.AddTo(counts, rows.Source)\n",
		"./internal/replay TestBigMethods/mst/big",
	},
	{
		"each row is a unit where an id ends in a letter", "table/layout.go",
		"ids.number[i] = global[u]",
		"ids.number[i] = global[u]\n\t\tif w := ids.words[u]; w[len(w)-1] > '9' {\n" +
			"\t\t\tids.number[i] = 1<<30 + uint32(i)\n\t\t}",
		"./internal/replay TestBigMethods/mst/big_units",
	},
}

// tags are those of packages whose tests need one.
var tags = map[string]string{"./internal/kill": "faults", "./internal/replay": "seam"}

// TestMutantsAreFresh checks that every edit still fits the source, without running any.
func TestMutantsAreFresh(t *testing.T) {
	for _, m := range mutants {
		fits(t, m.name, m.file, m.old)
		folder, test, ok := strings.Cut(m.tests, " ")
		test, _, _ = strings.Cut(test, "/") // of a part of a test, the whole
		if !ok || !hasTest(t, folder, test) {
			t.Errorf("%s: %q is not a package and a test of it", m.name, m.tests)
		}
	}
	for _, m := range audited {
		for _, e := range m.edits {
			fits(t, m.name, e.file, e.old)
		}
	}
}

// hasTest reports whether a package has the test.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// fits reports a text that does not occur exactly once in a file.
func fits(t *testing.T, name, file, old string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(src), old); n != 1 {
		t.Errorf("%s: the text to change occurs %d times in %s", name, n, file)
	}
}

// TestMutantsAreCaught builds the tests of each package once, with all mutants that they must
// notice, and once more for each mutant that cannot be one of many.
func TestMutantsAreCaught(t *testing.T) {
	if !*long {
		t.Skip("skipped: runs with -args -long")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	chosen := map[string][]edit{}    // by -run
	programs := map[string]*tester{} // of each folder
	var alone []string
	weaving := sync.OnceValue(func() error {
		overlay, rest, err := weave(root, dir, chosen)
		if err != nil {
			return err
		}
		alone = rest
		limit, errs := make(chan bool, runtime.GOMAXPROCS(0)), make(chan error)
		for folder, p := range programs {
			p.overlay, p.path = overlay, filepath.Join(dir, strings.ReplaceAll(folder, "/", "_"))
			go func() {
				limit <- true
				errs <- p.build(root, folder)
				<-limit
			}()
		}
		for range programs {
			err = errors.Join(err, <-errs)
		}
		return err
	})
	var passed sync.Map // tests that were run without a mutant
	var said sync.Once  // why nothing compiles
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			e := edit{m.file, m.old, m.new}
			fits(t, m.name, e.file, e.old)
			folder, test, _ := strings.Cut(m.tests, " ")
			chosen[m.name], programs[folder] = []edit{e}, &tester{dir: filepath.Join(root, folder)}
			t.Parallel() // goes on when all are chosen
			if err := weaving(); err != nil {
				said.Do(func() { t.Error(err) })
				t.Fatal("the mutants do not compile, so they show nothing")
			}
			p, name := programs[folder], m.name
			if slices.Contains(alone, m.name) {
				name = ""
				dir := t.TempDir()
				p = &tester{p.dir, replaced(t, root, dir, chosen[m.name]), filepath.Join(dir, "test")}
				if err := p.build(root, folder); err != nil {
					t.Fatalf("the mutant does not compile, so it shows nothing:\n%v", err)
				}
			} else if _, known := passed.LoadOrStore(m.tests, true); !known && tags[folder] != "faults" {
				if out, err := p.run(test, ""); err != nil {
					t.Errorf("the test fails without a mutant too:\n%s", out)
				}
			}
			out, err := p.run(test, name)
			if err == nil {
				t.Errorf("no test noticed:\n%s", out)
			} else if !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:") {
				t.Errorf("the tests did not run, so this shows nothing:\n%s", out)
			}
		})
	}
}

// tester is a program of a package's tests.
type tester struct {
	dir     string // where they run
	overlay string // also of the programs that they build
	path    string
}

// build makes the program.
func (p *tester) build(root, folder string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+p.overlay,
		"-tags="+tags[folder], "-o", p.path, folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", folder, err, out)
	}
	return nil
}

// run runs a test with a mutant in force.
func (p *tester) run(test, mutant string) (string, error) {
	cmd := exec.Command(p.path, "-test.failfast", "-test.timeout=300s", "-test.run=^"+test+"$")
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), switchName+"="+mutant,
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+p.overlay)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
