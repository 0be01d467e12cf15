// Package sums answers a question about rows where these are: inside a task of an engine. What it
// adds for a row depends on that row and the question alone, and is the same number on every
// machine.
package sums

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
)

// errQuestion says nothing of rows: a question is public.
var errQuestion = errors.New("sums: not a question about this schema")

// Sum is the answer to a question as rows come.
type Sum struct {
	Answer []int64 // modulo 2^64, without the number of rows
	critic *critic.Critic
	factor float64
	inputs []int64 // part of the answer; nil if it is not asked for
}

// New is the answer for no row. From now on all kernels of the process are plain Go.
func New(s *schema.Schema, q engine.Question) (*Sum, error) {
	var g engine.Gradient
	if q.Kind != engine.GradientKind || json.Unmarshal(q.Of, &g) != nil ||
		q.Length != len(g.Parameters)+g.Inputs || len(g.Units) == 0 {
		return nil, errQuestion
	}
	e, err := critic.NewEncoder(s)
	if err != nil {
		return nil, errQuestion
	}
	last := len(g.Units) - 1
	c, err := critic.New(e, critic.Options{Hidden: g.Units[:last], Slope: g.Slope},
		rand.New(rand.NewPCG(0, 0))) // weights that are overwritten
	if err != nil || g.Units[last] != 1 || len(c.Parameters()) != len(g.Parameters) ||
		g.Inputs != 0 && g.Inputs != e.Cells() {
		return nil, errQuestion
	}
	copy(c.Parameters(), g.Parameters)
	kernels.UsePlain()
	out := &Sum{Answer: make([]int64, q.Length), critic: c, factor: g.Factor}
	if g.Inputs > 0 {
		out.inputs = out.Answer[len(g.Parameters):]
	}
	return out, nil
}

// Kernel is the arithmetic of sums here: those of one question must all have the same.
func Kernel() string { return runtime.GOARCH + " with " + kernels.UsePlain() }

// Add adds rows.
func (s *Sum) Add(t *table.Table) {
	s.critic.AddSumTo(s.Answer[:len(s.critic.Parameters())], s.inputs, s.factor, t.Columns(), nil)
}
