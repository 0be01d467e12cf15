//go:build seam

package replay

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestOrderOfRows: rows of linked tables in another order, with the same noise, make what leaves
// the same, byte by byte. Answers are played back, so that each is compared before noise is added,
// too; another row is seen there.
func TestOrderOfRows(t *testing.T) {
	var rows []string
	for i := range 600 { // of each id some, of which some have the same place in the order
		rows = append(rows, fmt.Sprintf("p%d,%d,%c,%d,hello", i*i%200, i%7*10, "fm"[i*i/3%2], i/7%2))
	}
	mixed := slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) {
		mixed[i], mixed[j] = mixed[j], mixed[i]
	})
	const none = "0 0 0"
	w := world{"units", "decoy: 1\nunit: id\nmax_rows_per_unit: 1\n", file(true, rows...), nil,
		columns, none}
	s := story{name: "linked", commands: []string{
		"generate people.csv in.csv --schema linked.yaml --epsilon 1 --seed 7 --out-dir out " +
			"--model m.decoy",
		"generate people.csv in.csv --schema linked.yaml --epsilon 1 --seed 7 --out-dir more " +
			"--method mst",
	}}
	p := place{t: t, world: w, story: s, dir: t.TempDir(), key: 5}
	total := counts{looked: looked{most: map[string]float64{}, drawn: map[string][]float64{}}}
	numbers := 0
	for p.today = ""; p.today != today(); { // the ledger has the day
		p.today, p.problems = today(), nil
		x := p.tell(neighbour{table: w.table, first: none})
		p.expected(x)
		y := p.tell(neighbour{table: file(true, mixed...), first: none})
		p.same("another order", x, y, &total)
		z := p.tell(neighbour{table: file(true, append(mixed, "p7,40,m,1,new")...), first: none})
		for i := range x.looks {
			differ := 0
			for k, l := range x.looks[i] {
				if numbers += len(l.Exact.Ints); !reflect.DeepEqual(l.Exact, y.looks[i][k].Exact) {
					t.Errorf("%s: %s is another one without noise", s.commands[i], l.What)
				}
				if !reflect.DeepEqual(l.Exact, z.looks[i][k].Exact) {
					differ++
				}
			}
			if differ == 0 {
				t.Errorf("%s: another row is not seen", s.commands[i])
			}
		}
	}
	for _, text := range p.problems {
		t.Error(text)
	}
	if t.Log(&total); numbers < 100 || total.files < 5 {
		t.Errorf("%d numbers and %d files were compared", numbers, total.files)
	}
}
