package synth

import (
	"fmt"
	"strings"
)

// Auto is the method used when none is named: [Named] says which it is.
const Auto = "auto"

// Why is what decides for auto.
const Why = "auto: closest in pairs and best for prediction, or level, at nearly every size " +
	"and budget measured (docs/benchmarks.md)"

// methods is the table. A new method is a file beside this one, a line here, and `go generate
// ./synth` for the texts of its settings; TestMethodsAreHeld names what else it must have.
var methods = []func() settings{
	func() settings { return new(MST) },
	func() settings { return new(AIM) },
	func() settings { return new(MWEM) },
	func() settings { return new(Bayes) },
	func() settings { return new(SmallDB) },
	func() settings { return new(WGAN) },
	func() settings { return new(PATEGAN) },
}

// settings are those of a method, and with [Checked] the method. The zero value is the default.
type settings interface {
	Fitter
	// check refuses what tags of the fields do not tell, and fills in such defaults.
	check() error
}

// Checked is the method of these settings: numbers that are 0 have their defaults, by the tags
// default, min and max of their fields, and all are in their ranges. Errors wrap [ErrConfig].
func Checked[M settings](m M) (M, error) {
	err := fill(m)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", m.Name(), err, ErrConfig)
	}
	return m, err
}

// Named is the name of the method that a name stands for: auto, and "", are aim. One method serves
// every size and budget, because its shares follow the noise, the number of codes and the noisy
// number of rows (see [AIM]): mst is level with it where noise drowns every pair, and behind
// elsewhere (docs/benchmarks.md).
func Named(name string) string {
	if name == "" || name == Auto {
		return (*AIM)(nil).Name()
	}
	return name
}

// Choices lists what may be given as a method: auto, and [Names].
func Choices() []string { return append([]string{Auto}, Names()...) }

// Names lists the methods.
func Names() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m().Name()
	}
	return names
}

// New is the method of that name or auto. decode fills in its settings, to which it gets a
// pointer; nil leaves the defaults.
func New(name string, decode func(settings any) error) (Fitter, error) {
	m, err := unchecked(name)
	if err == nil && decode != nil {
		err = decode(m)
	}
	if err != nil {
		return nil, err
	}
	if m, err = Checked(m); err != nil {
		return nil, err
	}
	return m, nil
}

// unchecked is the method of that name or auto before its settings are decoded.
func unchecked(name string) (settings, error) {
	for _, m := range methods {
		if m := m(); m.Name() == Named(name) {
			return m, nil
		}
	}
	return nil, fmt.Errorf("method %q is unknown; there is %s: %w", name,
		strings.Join(Choices(), ", "), ErrConfig)
}
