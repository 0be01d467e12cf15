// Program outside names, as a program of another module does, what one begins with in each package
// that has no example of its own. TestModule compiles it.
package main

import (
	"context"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/docs"
	linkedtables "github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/derive"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
	"github.com/decoy-dp/decoy/privacy/mech/linked"
	"github.com/decoy-dp/decoy/privacy/mech/logistic"
	"github.com/decoy-dp/decoy/privacy/mech/randomized"
	"github.com/decoy-dp/decoy/privacy/mech/shares"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/privacy/mech/threshold"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
	"github.com/decoy-dp/decoy/stats/party"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func main() {
	s := synthtest.Schema(3)
	network := must(critic.New(must(critic.NewEncoder(s)),
		critic.Options{Hidden: []int{8}}, rand.New(rand.NewPCG(1, 2)))).Network()
	ctx, budget := context.Background(), accountant.Budget{Epsilon: 1, Delta: 1e-9}
	options := privacy.Options{Budget: budget, Ledger: ledger.NewFile("t.ledger")}
	open := func(of *privacy.Rows) *privacy.Session {
		return must(privacy.Open(ctx, of, options))
	}
	one := open(privacy.File("t.csv", s))
	must(noise.NewDiscreteLaplace(1))

	// answers that a session gives, each by a package of its own
	gradient.CertifiedSum(one, gradient.Plan{Rate: .1, NoiseMultiplier: 1}, network)
	problem := logistic.Problem{Columns: []int{0, 1}, Target: 2, Classes: []int{0, 1}}
	logistic.Gradient(one, problem, nil, 1)
	logistic.Minimum(ctx, one, problem, logistic.Perturbation{Penalty: 1, Output: 1})
	randomized.Answer(one, [][][]int{{{0}}}, 1)
	threshold.Open(one, 10, .5)
	shares.Open(one, shares.Terms{Colluding: 1, PerPerson: 1, Budget: budget})
	vote.Split(one, 10, func(int) vote.Teacher[int] { return teacher{} })
	open(must(linked.Files(must(schema.LoadLinked("clinic.yaml")),
		[]string{"patients.csv", "visits.csv"})))
	texts := must(text.File("t.csv", text.Options{Names: []string{"a"}}))
	must(text.Open(ctx, texts, options))
	infer.Infer(ctx, texts, infer.Inference{}, infer.Run{Options: options})

	// what is made of models, of files and by several parties
	verified := must(must(release.Open("t.decoy")).Verify(nil))
	var derived derive.Range = verified.Derived
	_ = derived
	party.Meet(ctx, party.Options{Method: new(synth.MST), Schema: s, Budget: budget})
	real := must(linkedtables.Read(ctx, nil, nil))
	linkedtables.Families(real, real, 1)
	docs.Page("library")
}

type teacher struct{}

func (teacher) Train(*table.Table, int) {}
func (teacher) VotesTo([]uint8, int)    {}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
