// Package all lists the methods: one explicit table from name to constructor, nothing registers
// itself.
package all

import (
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/aim"
	"github.com/decoy-dp/decoy/synth/bayes"
	"github.com/decoy-dp/decoy/synth/mst"
	"github.com/decoy-dp/decoy/synth/mwem"
	"github.com/decoy-dp/decoy/synth/pategan"
	"github.com/decoy-dp/decoy/synth/smalldb"
	"github.com/decoy-dp/decoy/synth/wgan"
)

// Auto is the method used when none is named: [Named] says which it is.
const Auto = "auto"

// Why is what decides for auto.
const Why = "auto: closest in pairs and best for prediction, or level, at nearly every size " +
	"and budget measured (docs/benchmarks.md)"

// methods is the table. A new method is a folder beside this one, a line here, and `go generate
// ./synth/all` for the texts of its settings; TestMethodsAreHeld names what else it must have.
var methods = []method{
	of(mst.Name, mst.New),
	of(aim.Name, aim.New),
	of(mwem.Name, mwem.New),
	of(bayes.Name, bayes.New),
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

// Named is the name of the method that a name stands for: auto, and "", are aim. One method serves
// every size and budget, because its shares follow the noise, the number of codes and the noisy
// number of rows (see synth/aim): mst is level with it where noise drowns every pair, and behind
// elsewhere (docs/benchmarks.md).
func Named(name string) string {
	if name == "" || name == Auto {
		return aim.Name
	}
	return name
}

// Choices lists what may be given as a method: auto, and [Names].
func Choices() []string { return append([]string{Auto}, Names()...) }

// Names lists the methods.
func Names() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

// New is the method of that name or auto. decode fills in its Config, to which it gets a
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
	for _, m := range methods {
		if m.name == Named(name) {
			return m, nil
		}
	}
	return method{}, fmt.Errorf("method %q is unknown; there is %s: %w", name,
		strings.Join(Choices(), ", "), synth.ErrConfig)
}
