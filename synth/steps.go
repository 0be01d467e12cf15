package synth

import "context"

// Steps are the steps of a training, of which a method takes so many at a time. It tells how far
// the training is, and stops where the context does.
type Steps struct {
	Ctx      context.Context
	Progress Progress
	All      int // of all stages
	taken    int
}

// Take calls step n times, with the number of steps that were taken before.
func (s *Steps) Take(n int, stage string, step func(k int) error) error {
	for range n {
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		if err := step(s.taken); err != nil {
			return err
		}
		if s.taken++; s.taken%16 == 0 {
			s.Tell(stage)
		}
	}
	return nil
}

// Tell reports the stage.
func (s *Steps) Tell(stage string) { s.Progress.Report(stage, float64(s.taken)/float64(s.All)) }
