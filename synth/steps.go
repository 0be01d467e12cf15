package synth

import "context"

// stepper takes the steps of a training, of which a method takes so many at a time. It tells how
// far the training is, and stops where the context does.
type stepper struct {
	Ctx      context.Context
	Progress Progress
	All      int // of all stages
	taken    int
}

// take calls step n times, with the number of steps that were taken before.
func (s *stepper) take(n int, stage string, step func(k int) error) error {
	for range n {
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		if err := step(s.taken); err != nil {
			return err
		}
		if s.taken++; s.taken%16 == 0 {
			s.tell(stage)
		}
	}
	return nil
}

// tell reports the stage.
func (s *stepper) tell(stage string) { s.Progress.Report(stage, float64(s.taken)/float64(s.All)) }
