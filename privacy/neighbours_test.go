package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

var relations = []Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

func TestNeighboursOf(t *testing.T) {
	tests := []struct {
		name   string
		schema schema.Schema
		adj    accountant.Adjacency
		want   Neighbours
	}{
		{"row, default adjacency", schema.Schema{}, 0, Neighbours{accountant.AddRemove, 1}},
		{
			"row, replace-one",
			schema.Schema{},
			accountant.ReplaceOne,
			Neighbours{accountant.ReplaceOne, 1},
		},
		{
			"rows per unit without a unit mean nothing",
			schema.Schema{MaxRowsPerUnit: 7},
			0,
			Neighbours{accountant.AddRemove, 1},
		},
		{
			"unit",
			schema.Schema{Unit: "patient", MaxRowsPerUnit: 7},
			0,
			Neighbours{accountant.AddRemove, 7},
		},
	}
	for _, tt := range tests {
		if got := NeighboursOf(&tt.schema, tt.adj); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestEvents states every sensitivity by hand, so that a factor lost in the code is seen here.
func TestEvents(t *testing.T) {
	tests := []struct {
		name               string
		nb                 Neighbours
		total, counts, eps float64
	}{
		{"add-remove, row", relations[0], 10, 10, .5},
		{"add-remove, 4 rows", relations[1], 2.5, 2.5, .5},
		{"replace-one, row", relations[2], 10, 10 / math.Sqrt2, .5},
		{"replace-one, 4 rows", relations[3], 2.5, 2.5 / math.Sqrt2, .5},
	}
	near := func(got, want float64) bool { return math.Abs(got-want) <= 4e-16*want }
	for _, tt := range tests {
		if got := tt.nb.MeasureEvent(Total{},
			10).(accountant.Gaussian).NoiseMultiplier; !near(got, tt.total) ||
			got > tt.total {
			t.Errorf("%s: Total has multiplier %v, want %v", tt.name, got, tt.total)
		}
		if got := tt.nb.MeasureEvent(Marginal{},
			10).(accountant.Gaussian).NoiseMultiplier; !near(got, tt.counts) {
			t.Errorf("%s: Counts has multiplier %v, want %v", tt.name, got, tt.counts)
		}
		k, cells := tt.nb.k()/10, tt.nb.k()/10
		if tt.nb.Adjacency == accountant.ReplaceOne {
			cells *= 2
		}
		for _, q := range []struct {
			query Query
			want  float64
		}{{Where{}, k}, {Total{}, k}, {Marginal{}, cells}} {
			got := tt.nb.LaplaceEvent(q.query, 10).(accountant.Laplace).Epsilon
			if got < q.want || got > q.want*(1+1e-15) {
				t.Errorf("%s: %T with Laplace noise costs %v, want %v", tt.name, q.query, got, q.want)
			}
		}
		if got := tt.nb.SelectEvent(.5).(accountant.Exponential).Epsilon; got != tt.eps {
			t.Errorf("%s: Select has epsilon %v, want %v", tt.name, got, tt.eps)
		}
	}
}

// TestDirectedDivision checks against exact rationals that a quotient is never on the unsafe side.
func TestDirectedDivision(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	rounded := 0
	for range 20000 {
		x, y := math.Exp(20*u.Float64()-10), math.Exp(20*u.Float64()-10)
		exact := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
		if lo := new(big.Rat).SetFloat64(access.Down(x, y)); lo.Cmp(exact) > 0 {
			t.Fatalf("access.Down(%v, %v) is above the quotient", x, y)
		}
		if hi := new(big.Rat).SetFloat64(access.Up(x, y)); hi.Cmp(exact) < 0 {
			t.Fatalf("access.Up(%v, %v) is below the quotient", x, y)
		}
		if access.Down(x, y) != x/y {
			rounded++
		}
		if gap := access.Up(x, y)/access.Down(x, y) - 1; gap > 5e-16 {
			t.Fatalf("up and down of %v/%v are %v apart", x, y, gap)
		}
	}
	if rounded == 0 {
		t.Error("no quotient needed rounding: the test shows nothing")
	}
}

func TestNeighboursInWords(t *testing.T) {
	if got, want := relations[0].Units("").Words(), "add-remove, unit = 1 row"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := relations[3].Units("id").Words(), `replace-one, unit = all rows of one "id", `+
		"of which at most 4 are used"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
