package gatetest

import "context"

// PollCounter is a context that counts how often it is looked at.
type PollCounter struct {
	context.Context
	Asked int
}

// Err counts.
func (c *PollCounter) Err() error { c.Asked++; return nil }

// Done counts.
func (c *PollCounter) Done() <-chan struct{} {
	c.Asked++
	return nil
}
