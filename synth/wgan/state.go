package wgan

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
)

// state is a checkpoint: releases in the order they were bought, and networks computed from them. It is what an observer of all releases could
// compute, and so as public as the model.
type state struct {
	Settings  string // as given: a run goes on with the settings it began with
	HasRows   bool
	Rows      float64   // NaN if lost
	Tables    [][]int64 // nil if lost
	Step      int       // critic steps taken, lost ones included
	Done      int       // generator steps taken
	Releases  []released
	Critic    []byte
	Generator []byte
	Average   []byte
}

// released is one gradient sum.
type released struct {
	Critic []byte // that was measured
	Sum    []byte // int64, little-endian
}

// maxState bounds the size of a checkpoint in bytes: what is larger is refused before it is read.
const maxState = 1 << 31

// decodeState reads a checkpoint; none is an empty one.
func decodeState(data []byte, given Config) (*state, error) {
	settings := fmt.Sprintf("%+v", given)
	if data == nil {
		return &state{Settings: settings}, nil
	}
	st := &state{}
	if len(data) > maxState {
		return nil, fmt.Errorf("wgan: %d bytes: %w", len(data), synth.ErrCheckpoint)
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(st); err != nil {
		return nil, fmt.Errorf("wgan: it does not decode: %w", synth.ErrCheckpoint)
	}
	if st.Settings != settings {
		return nil, fmt.Errorf("wgan: the interrupted run had other settings: %w", synth.ErrConfig)
	}
	return st, nil
}

func (st *state) encode() ([]byte, error) {
	var buf bytes.Buffer
	err := gob.NewEncoder(&buf).Encode(st)
	return buf.Bytes(), err
}

// add keeps a release.
func (st *state) add(c *gan.Critic, sum []int64) error {
	b, err := c.MarshalBinary()
	if err != nil {
		return err
	}
	whole, err := binary.Append(nil, binary.LittleEndian, sum)
	if err != nil {
		return err
	}
	st.Releases = append(st.Releases, released{b, whole})
	return nil
}

// checkpoint writes the state with the networks as they are.
func (t *training) checkpoint(b *purse) (err error) {
	if b.save == nil {
		return nil
	}
	if b.state.Critic, err = t.critic.MarshalBinary(); err != nil {
		return err
	}
	if b.state.Generator, err = t.generator.MarshalBinary(); err != nil {
		return err
	}
	if b.state.Average, err = binary.Append(nil, binary.LittleEndian, t.average); err != nil {
		return err
	}
	return b.write()
}

// restore puts the releases of the state back into the replay, and its networks in the place of new ones.
func (t *training) restore(st *state) error {
	bad := func(what string) error {
		return fmt.Errorf("wgan: %s of it does not fit: %w", what, synth.ErrCheckpoint)
	}
	if len(st.Releases) > t.cfg.Steps || len(st.Tables) > t.tables() {
		return bad("the number of releases")
	}
	if st.Critic != nil { // the generator first: what the replay makes of a release depends on it
		g, err := gan.DecodeGenerator(st.Generator)
		if err != nil || len(g.Parameters()) != len(t.average) || len(st.Average) != 4*len(t.average) {
			return bad("the generator")
		}
		copy(t.generator.Parameters(), g.Parameters())
	}
	for _, r := range st.Releases {
		c, err := gan.DecodeCritic(r.Critic)
		if err != nil || !t.fits(c) {
			return bad("a critic")
		}
		cert, err := bounds.Certify(critic{Critic: c}.Network(), t.input, t.certificate())
		if err != nil || len(r.Sum) != 8*cert.Coordinates() {
			return bad("a release")
		}
		sum := make([]int64, cert.Coordinates())
		if _, err := binary.Decode(r.Sum, binary.LittleEndian, sum); err != nil {
			return bad("a release")
		}
		t.critic = c
		if _, err := t.keep(privacy.Certified{Certificate: cert, Released: sum}); err != nil {
			return err
		}
	}
	if st.Critic == nil {
		return nil
	}
	c, err := gan.DecodeCritic(st.Critic)
	if err != nil || !t.fits(c) {
		return bad("the critic")
	}
	t.critic = c
	if _, err := binary.Decode(st.Average, binary.LittleEndian, t.average); err != nil {
		return bad("the average")
	}
	for _, w := range t.average {
		if math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) {
			return bad("the average")
		}
	}
	return nil
}

// fits reports whether a decoded critic has the shape of the plan's.
func (t *training) fits(c *gan.Critic) bool {
	if c.Layers() != len(t.cfg.Hidden)+1 || c.Encoder().Cells() != t.encoder.Cells() || !slices.Equal(c.Encoder().ScaledColumns(), t.encoder.ScaledColumns()) || c.Slope() != float32(t.cfg.Slope) {
		return false
	}
	for l, units := range t.cfg.Hidden {
		if _, bias := c.Layer(l); len(bias) != units {
			return false
		}
	}
	return true
}
