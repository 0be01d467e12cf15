package privacy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// elsewhere is a table that is counted over these columns, and reads counts how often.
func elsewhere(tab *table.Table, reads *int, sets ...[]int) *Rows {
	sizes := tab.Schema().Sizes()
	ask := func(q engine.Question) ([]int64, error) {
		*reads++
		sets, err := engine.AskedSets(q, sizes)
		answer := []int64{int64(tab.Rows())}
		for _, set := range sets {
			answer = append(answer, tab.Counts(set...)...)
		}
		return answer, err
	}
	return FromEngine(tab.Schema(),
		engine.Source{Ask: ask, Begin: engine.AskSets(sets, sizes)}.Sealed())
}

// TestJointCounts: every marginal over columns that were counted together, in any order and over
// groups, has the counts that the rows have.
func TestJointCounts(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(601), nil)
	reads := 0
	rows := elsewhere(tab, &reads, []int{0, 1}, []int{1, 2}, []int{0, 1, 2})
	s, err := Open(context.Background(), rows, Options{Budget: wide, Plan: gaussian(5, 1)})
	if err != nil || reads != 1 {
		t.Fatalf("%d reads, %v", reads, err)
	}
	here := open(t, tab, gaussian(5, 1))
	groups := [][]uint16{nil, {0, 1, 0}, {1, 0, 0, 1}}
	for _, cols := range [][]int{{}, {0}, {1}, {2}, {0, 1}, {1, 0}, {2, 1}, {2, 0}, {2, 0, 1}} {
		for _, merged := range []bool{false, true} {
			q := Marginal{Cols: cols}
			if merged {
				for _, c := range cols {
					q.Groups = append(q.Groups, groups[c])
				}
			}
			got := s.in.Counts(compiledOf(t, s.session, q))[0]
			want := here.in.Counts(compiledOf(t, here.session, q))[0]
			if !slices.Equal(got, want) {
				t.Errorf("columns %v, groups %v: counts %v, want %v", cols, merged, got, want)
			}
		}
	}
	n := s.in.Counts(compiledOf(t, s.session, Total{}))[0]
	if !slices.Equal(n, []int64{601}) {
		t.Errorf("%d rows, want 601", n)
	}
	text := fmt.Sprintf("%+v %#v %v", s, s, rows)
	if !regexp.MustCompile(`^(privacy\.Session\([0-9a-f]{16}\) ){2}privacy\.Rows\(private\)$`).
		MatchString(text) {
		t.Errorf("printing shows counts: %s", text)
	}
}

// TestJointRefuses: nothing but such marginals is answered, and what is refused while a mechanism
// runs ends the session.
func TestJointRefuses(t *testing.T) {
	tab := testTable(t, testSchema("id", 2), someRows(60), make([]uint32, 60))
	for name, q := range map[string]Query{
		"columns that were not counted together": Marginal{Cols: []int{0, 2}},
		"an expression":                          firstIs1,
		"units":                                  ContributionHistogram{UpTo: []int{1}},
	} {
		reads := 0
		s := stattest.Must(Open(context.Background(), elsewhere(tab, &reads, []int{0, 1}, []int{2}),
			Options{Budget: wide, Plan: append(gaussian(4, 2), gaussian(8, 2)...)}))
		must(s.Measure(Marginal{Cols: []int{1}}, 8))
		stattest.Wraps(t, stattest.Err(s.Measure(q, s.Neighbours().k()*4)), ErrElsewhere, "%s", name)
		stattest.Wraps(t, stattest.Err(s.Measure(Marginal{Cols: []int{1}}, 8)), ErrElsewhere,
			"%s: the session lives on", name)
		stattest.Wraps(t, s.hold(nil), ErrElsewhere, "%s: rows are lent", name)
	}
}

// TestJointSums: an answer has the number of rows that were counted, and as many numbers as were
// asked for.
func TestJointSums(t *testing.T) {
	for name, c := range map[string]struct {
		answer []int64
		err    error
		want   error
	}{
		"fine":             {[]int64{2, -5, 1 << 62}, nil, nil},
		"a number too few": {[]int64{2, -5}, nil, engine.ErrCounts},
		"one too many":     {[]int64{2, 1, 2, 3}, nil, engine.ErrCounts},
		"two too many":     {[]int64{2, 1, 2, 3, 4}, nil, engine.ErrCounts},
		"no number":        {nil, nil, engine.ErrCounts},
		"a row too many":   {[]int64{3, -5, 1}, nil, engine.ErrCounts},
		"a failed engine":  {nil, ErrElsewhere, ErrElsewhere},
	} {
		from := engine.Source{Begin: engine.AskSets([][]int{{0}}, testSchema("", 0).Sizes()),
			Ask: func(q engine.Question) ([]int64, error) {
				if q.Kind == engine.Sets {
					return []int64{2, 2, 0}, nil
				}
				return c.answer, c.err
			}}
		s := must(Open(context.Background(), FromEngine(testSchema("", 0), from.Sealed()),
			Options{Budget: wide, Plan: gaussian(5, 1)}))
		got, err := s.in.Joint.Sum(engine.Question{Length: 2})
		if !errors.Is(err, c.want) || err == nil && !slices.Equal(got, c.answer[1:]) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestJointIsOneTable: counts that are not those of one table end the run before its first
// mechanism, and so does an engine that fails.
func TestJointIsOneTable(t *testing.T) {
	s, broken := testSchema("", 0), errors.New("broken")
	for name, c := range map[string]struct {
		answer []int64
		err    error
		want   error
	}{
		"a set too few":       {[]int64{3, 1, 2}, nil, engine.ErrCounts},
		"a cell too few":      {[]int64{3, 1, 2, 1, 2}, nil, engine.ErrCounts},
		"a cell too many":     {[]int64{3, 1, 2, 1, 1, 1, 0}, nil, engine.ErrCounts},
		"another total":       {[]int64{3, 1, 2, 1, 1, 2}, nil, engine.ErrCounts},
		"another first total": {[]int64{3, 2, 2, 1, 1, 1}, nil, engine.ErrCounts},
		"below zero":          {[]int64{3, 4, -1, 1, 1, 1}, nil, engine.ErrCounts},
		"a failed engine":     {nil, broken, broken},
	} {
		l := ledger.NewFile(t.TempDir() + "/ledger")
		rows := FromEngine(s, engine.Source{
			Begin: engine.AskSets([][]int{{0}, {1}}, s.Sizes()),
			Ask:   func(engine.Question) ([]int64, error) { return c.answer, c.err }}.Sealed())
		_, err := Open(context.Background(), rows,
			Options{Budget: wide, Plan: gaussian(5, 1), Ledger: l})
		stattest.Wraps(t, err, c.want, "%s", name)
		file, err := l.Read()
		if err != nil || len(file.Runs()) != 1 || file.Runs()[0].Status != ledger.StatusFailed {
			t.Errorf("%s: the run has not failed: %v", name, err)
		}
	}
	// The schema is the gate's own.
	s.Columns = append(s.Columns, schema.Column{Name: "more"})
	if rows := FromEngine(s, engine.Source{}.Sealed()); rows.Schema() == s {
		t.Error("the schema is the caller's")
	}
}
