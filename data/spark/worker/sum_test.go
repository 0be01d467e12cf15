package worker

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// asked is a critic for a schema, and the question for its sum.
func asked(t *testing.T, s *schema.Schema, inputs bool) (*critic.Critic, engine.Question) {
	t.Helper()
	e := stattest.Must(critic.NewEncoder(s))
	c := stattest.Must(critic.New(e, critic.Options{Hidden: []int{19, 5}, Slope: .1},
		rand.New(rand.NewPCG(5, 6))))
	g := engine.Gradient{Slope: c.Slope(), Units: c.Sizes()[1:], Parameters: c.Parameters(),
		Factor: 0x1p-26}
	if inputs {
		g.Inputs = e.Cells()
	}
	return c, g.Question()
}

// TestSums: what tasks say, added up, is the sum over the table that a critic adds here by the same
// kernel, to the last bit, however the rows are divided, and also beyond 64 bits.
func TestSums(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	s, err := schema.Parse(fmt.Appendf(nil, yaml, ""))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	csv := "a,b\n"
	for range 5000 {
		b := u.IntN(10)
		lines = append(lines, fmt.Sprintf("z\x01%d\n", b))
		csv += fmt.Sprintf("z,%d\n", b)
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	tab, _, err := table.Read(context.Background(), file, s, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, q := asked(t, s, true)
	sums.Kernel() // plain Go is in use from here on
	want := make([]int64, q.Length)
	n := len(c.Parameters())
	c.AddSumTo(want[:n], want[n:], 0x1p-26, []table.Codes{tab.Column(0), tab.Column(1)}, nil)
	if bias := want[n-1]; bias != int64(len(lines))<<52 { // modulo 2^64
		t.Errorf("the last bias has the sum %d, so the sums did not run over", bias)
	}
	w := word(t, "", func(p *Plan) { p.Question = q })
	if p := stattest.Must(decode(w)); !strings.HasSuffix(p.Reads, sums.Kernel()) {
		t.Errorf("tasks may add up by other arithmetic: %s", p.Reads)
	}
	for _, cut := range []int{0, 1, 2500, 4999} {
		cells, rows := make([]int64, 2*q.Length), int64(0)
		for _, part := range [][]string{lines[:cut], lines[cut:]} {
			var out bytes.Buffer
			in := strings.NewReader(w + "\n" + strings.Join(part, ""))
			if err := count(in, &out); err != nil {
				t.Fatal(err)
			}
			got := told(t, out.String())
			rows += got[TaskRows]
			for i := range cells {
				cells[i] += got[i]
			}
		}
		if rows != 5000 || !slices.Equal(Whole(cells), want) {
			t.Errorf("cut at %d: %d rows, another sum than here", cut, rows)
		}
	}
	if xs := []int64{0, -1, 1, 1 << 62, -1 << 63, 1<<32 - 1, -1 << 32}; !slices.Equal(
		Whole(halves(xs)), xs) {
		t.Error("halves are not whole")
	}
}

// TestForeignQuestions: a question that is not one about the schema is told as a bad plan.
func TestForeignQuestions(t *testing.T) {
	s, _ := schema.Parse(fmt.Appendf(nil, yaml, ""))
	of := func(change func(g *engine.Gradient)) engine.Question {
		c, _ := asked(t, s, true)
		g := engine.Gradient{Units: c.Sizes()[1:], Parameters: c.Parameters(),
			Factor: 1, Inputs: c.Encoder().Cells()}
		change(&g)
		return g.Question()
	}
	fine := of(func(*engine.Gradient) {})
	for name, q := range map[string]engine.Question{
		"another kind":       {Kind: "other", Of: fine.Of, Length: fine.Length},
		"another length":     {Kind: fine.Kind, Of: fine.Of, Length: fine.Length - 1},
		"no JSON":            {Kind: fine.Kind, Of: []byte("1"), Length: fine.Length},
		"a weight too few":   of(func(g *engine.Gradient) { g.Parameters = g.Parameters[1:] }),
		"two scores":         of(func(g *engine.Gradient) { g.Units[2] = 2 }),
		"no layer":           of(func(g *engine.Gradient) { g.Units = nil }),
		"an input too few":   of(func(g *engine.Gradient) { g.Inputs-- }),
		"a slope that is no": of(func(g *engine.Gradient) { g.Slope = 2 }),
	} {
		var out bytes.Buffer
		p := stattest.Must(decode(word(t, "", nil)))
		p.Question = q
		w := stattest.Must(p.word())
		err := count(strings.NewReader(w+"\nz\x011\n"), &out)
		if err != nil || out.String() != "-3\t1\n" {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}
