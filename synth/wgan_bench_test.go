package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// BenchmarkCertifiedStep is one step of a critic 64→128→128→1: the gate's certificate, exact sum
// over about 128 rows and noise, and the critic's own update with a gradient penalty at 128
// generated points. The least times of all iterations are not moved by what else the machine does:
// of the whole step; of the certificate; and of the update. percent is the certificate's share of
// the step.
func BenchmarkCertifiedStep(b *testing.B) {
	const batch, rows = 128, 1024
	s := &schema.Schema{}
	u := rand.New(rand.NewPCG(1, 2))
	var codes []table.Codes
	for range 4 {
		c := schema.Column{Name: "column " + string(rune('a'+len(codes))), Kind: schema.Categorical}
		for i := range 16 {
			c.Categories = append(c.Categories, string(rune('a'+i)))
		}
		s.Columns = append(s.Columns, c)
		x := table.NewCodes(16, rows)
		for i := range rows {
			x.U8[i] = uint8(u.IntN(16))
		}
		codes = append(codes, x)
	}
	tab, err := table.FromColumns(s, codes, nil)
	if err != nil {
		b.Fatal(err)
	}
	e, err := critic.NewEncoder(s)
	if err != nil {
		b.Fatal(err)
	}
	c, err := critic.New(e, critic.Options{Hidden: []int{128, 128}, Slope: .2}, u)
	if err != nil {
		b.Fatal(err)
	}
	plan := gradient.Plan{Mode: bounds.Residual, Rate: batch / float64(rows),
		NoiseMultiplier: 64}
	session, err := privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: accountant.Budget{Epsilon: 4, Delta: 1e-5},
			Plan:  accountant.Composition{{Event: gradient.Event(plan), Count: 1 << 14}},
			Price: pld.Epsilon, Method: "wgan"})
	if err != nil {
		b.Fatal(err)
	}
	in, err := bounds.NewInput(bounds.Block(16), bounds.Block(16), bounds.Block(16), bounds.Block(16))
	if err != nil {
		b.Fatal(err)
	}
	g, err := gan.NewGenerator(e, gan.GeneratorOptions{}, u)
	if err != nil {
		b.Fatal(err)
	}
	fake := g.NewPass(batch, gan.Head{Hard: true}).Forward(u)
	tutor, mixed, adam := gan.NewTutor(c, batch), matrix.New(batch, e.Cells()),
		matrix.NewAdam(len(c.Parameters()), .5, .9)
	decoded := make([]float64, len(c.Parameters()))
	const never = time.Duration(math.MaxInt64)
	step, certificate, update := never, never, never
	for b.Loop() {
		start := time.Now()
		r, err := gradient.CertifiedSum(session, plan, c.Network())
		if err != nil {
			b.Fatal(err)
		}
		released := time.Now()
		r.Certificate.DecodeTo(decoded, nil, r.Released, batch)
		gan.MixTo(mixed, fake, u)
		got, _ := tutor.Gradient(fake)
		tutor.AddPenalty(mixed, 1, true)
		for k := range got {
			got[k] -= float32(decoded[k] / batch)
		}
		adam.Update(c.Parameters(), got, 1e-7)
		step, update = min(step, time.Since(start)), min(update, time.Since(released))
		start = time.Now()
		if _, err := bounds.Certify(c.Network(), in,
			bounds.Config{Adjacency: accountant.AddRemove}); err != nil {
			b.Fatal(err)
		}
		certificate = min(certificate, time.Since(start))
	}
	b.ReportMetric(float64(step.Nanoseconds()), "min-ns/step")
	b.ReportMetric(float64(certificate.Nanoseconds()), "min-ns/certificate")
	b.ReportMetric(float64(update.Nanoseconds()), "min-ns/update")
	b.ReportMetric(100*float64(certificate)/float64(step), "percent")
}
