package marginal

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// checkTree fails unless the tree is a junction tree for the cliques.
func checkTree(t *testing.T, tree *junctionTree, cliques [][]int) {
	t.Helper()
	contains := func(q, cols []int) bool {
		for _, c := range cols {
			if !slices.Contains(q, c) {
				return false
			}
		}
		return true
	}
	for _, q := range cliques {
		if !slices.ContainsFunc(tree.cliques, func(o []int) bool { return contains(o, q) }) {
			t.Errorf("clique %v is in no clique of the tree", q)
		}
	}
	for i, q := range tree.cliques {
		for j, o := range tree.cliques {
			if i != j && contains(o, q) {
				t.Errorf("clique %v is not maximal: inside %v", q, o)
			}
		}
		if i == 0 {
			if tree.parent[0] != -1 || len(tree.seps[0]) != 0 {
				t.Errorf("the first clique has a parent")
			}
			continue
		}
		up := tree.parent[i]
		if up < 0 || up >= i {
			t.Fatalf("clique %d comes before its parent %d", i, up)
		}
		for _, c := range q {
			if in := slices.Contains(tree.cliques[up], c); in != slices.Contains(tree.seps[i], c) {
				t.Errorf("column %d: in the parent of %v is %v, in the separator %v", c, q, in, !in)
			}
		}
	}
	// Running intersection: the cliques that hold a column, less those whose parent holds it too,
	// leave exactly one top.
	for c := range tree.sizes {
		tops := 0
		for i, q := range tree.cliques {
			if slices.Contains(q, c) && !slices.Contains(tree.seps[i], c) {
				tops++
			}
		}
		if tops != 1 {
			t.Errorf("column %d has %d connected parts, want 1", c, tops)
		}
	}
}

func TestJunctionTreeOnRandomGraphs(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		n := 1 + u.IntN(70)
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = 1 + u.IntN(3)
		}
		var cliques [][]int
		for range u.IntN(n + 5) {
			q := u.Perm(n)[:min(n, u.IntN(4))]
			cliques = append(cliques, q)
		}
		cells, err := TreeCells(sizes, cliques)
		if errors.Is(err, errTooLarge) || cells > 1<<24 {
			continue
		}
		stattest.Check(t, err)
		tree := stattest.Must(newJunctionTree(sizes, cliques))
		checkTree(t, tree, cliques)
		total := 0
		for _, q := range tree.cliques {
			total += int(cellsOf(sizes, q))
		}
		if total != cells {
			t.Fatalf("the tree has %d cells, TreeCells said %d", total, cells)
		}
		for i, q := range cliques {
			fits := Beside(sizes, slices.Delete(slices.Clone(cliques), i, i+1))
			if n := float64(cells); !fits(q, n) || fits(q, n-1) {
				t.Fatalf("Beside differs from the %d of TreeCells", cells)
			}
		}
	}
}

func TestTreeCells(t *testing.T) {
	binary := make([]int, 40)
	for i := range binary {
		binary[i] = 2
	}
	var every [][]int
	for a := range binary {
		for b := range a {
			every = append(every, []int{a, b})
		}
	}
	grid := func(w, h int) (sizes []int, cliques [][]int) {
		for y := range h {
			for x := range w {
				sizes = append(sizes, 2)
				if x > 0 {
					cliques = append(cliques, []int{y*w + x - 1, y*w + x})
				}
				if y > 0 {
					cliques = append(cliques, []int{(y-1)*w + x, y*w + x})
				}
			}
		}
		return sizes, cliques
	}
	gridSizes, gridCliques := grid(4, 4)
	for _, c := range []struct {
		name    string
		sizes   []int
		cliques [][]int
		want    int
		err     error
	}{
		{"nothing", nil, nil, 0, nil},
		{"isolated columns", []int{2, 3, 4}, nil, 9, nil},
		{"chain", []int{2, 3, 4}, [][]int{{0, 1}, {1, 2}}, 18, nil},
		{"subsets cost nothing", []int{2, 3, 4}, [][]int{{2, 1, 0}, {0, 1}, {2}}, 24, nil},
		{"a cycle takes one chord, the cheapest", []int{10, 2, 10, 2}, [][]int{{0, 1}, {1, 2},
			{2, 3}, {3, 0}}, 80, nil},
		{"4 by 4 grid has treewidth 4", gridSizes, gridCliques, 10 * 32, nil},
		{"2^40 cells", binary, every, 0, errTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := TreeCells(c.sizes, c.cliques)
			if !errors.Is(err, c.err) || got > c.want || c.name[0] != '4' && got != c.want {
				t.Errorf("TreeCells = %d, %v; want %d, %v", got, err, c.want, c.err)
			}
		})
	}
	for _, c := range []struct {
		name    string
		sizes   []int
		cliques [][]int
	}{
		{"column too high", []int{2, 2}, [][]int{{0, 2}}},
		{"negative column", []int{2, 2}, [][]int{{-1}}},
		{"no codes", []int{2, 0}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := TreeCells(c.sizes, c.cliques); err == nil || errors.Is(err, errTooLarge) {
				t.Errorf("TreeCells error = %v, want one about the arguments", err)
			}
		})
	}
	sizes := []int{10_001, 10_000}
	stattest.Wraps(t, stattest.Err(newJunctionTree(sizes, [][]int{{0, 1}})), errTooLarge,
		"one row over the limit")
}
