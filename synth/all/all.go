// Package all lists the methods: one explicit table from name to constructor, nothing registers
// itself.
package all

import (
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/aim"
	"github.com/decoy-dp/decoy/synth/mst"
	"github.com/decoy-dp/decoy/synth/mwem"
	"github.com/decoy-dp/decoy/synth/pategan"
	"github.com/decoy-dp/decoy/synth/smalldb"
	"github.com/decoy-dp/decoy/synth/wgan"
)

// Default is the method used when none is named: the one that measures best at the usual budgets
// (README).
const Default = mst.Name

// methods is the table. A new method is a folder beside this one, a line here, and `go generate
// ./synth/all` for the texts of its settings; TestMethodsAreHeld names what else it must have.
var methods = []method{
	of(mst.Name, mst.New),
	of(aim.Name, aim.New),
	of(mwem.Name, mwem.New),
	of(smalldb.Name, smalldb.New),
	of(wgan.Name, wgan.New),
	of(pategan.Name, pategan.New),
}

// method is one line of the table.
type method struct {
	name   string
	config func() any // a pointer to a zero Config
	build  func(decode func(config any) error) (synth.Fitter, error)
}

// of makes a method of its constructor; C is its Config, whose zero value is the default.
func of[C any, F synth.Fitter](name string, construct func(C) (F, error)) method {
	return method{
		name:   name,
		config: func() any { return new(C) },
		build: func(decode func(config any) error) (synth.Fitter, error) {
			var c C
			if decode != nil {
				if err := decode(&c); err != nil {
					return nil, err
				}
			}
			f, err := construct(c)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

// Names lists the methods.
func Names() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

// New is the method of that name; "" is [Default]. decode fills in its Config, to which it gets a
// pointer; nil leaves the defaults.
func New(name string, decode func(config any) error) (synth.Fitter, error) {
	m, err := find(name)
	if err != nil {
		return nil, err
	}
	return m.build(decode)
}

// Fitter is the method of that name with its default settings.
func Fitter(name string) (synth.Fitter, error) { return New(name, nil) }

func find(name string) (method, error) {
	if name == "" {
		name = Default
	}
	for _, m := range methods {
		if m.name == name {
			return m, nil
		}
	}
	return method{}, fmt.Errorf("method %q is unknown; there is %s: %w", name,
		strings.Join(Names(), ", "), synth.ErrConfig)
}
