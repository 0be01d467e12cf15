// Package all lists the methods: one explicit table from name to fitter, nothing registers itself.
package all

import (
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/mst"
	"github.com/decoy-dp/decoy/synth/wgan"
)

// Default is the method used when none is named: the one that measures best at the usual budgets (README).
const Default = mst.Name

// Names lists the methods.
func Names() []string { return []string{mst.Name, wgan.Name} }

// Fitter is the method of that name with its default settings; "" is Default.
func Fitter(name string) (synth.Fitter, error) {
	switch name {
	case "", mst.Name:
		return mst.New(mst.Config{})
	case wgan.Name:
		return wgan.New(wgan.Config{})
	}
	return nil, fmt.Errorf("method %q is unknown; there is %s: %w", name, strings.Join(Names(), ", "), synth.ErrConfig)
}
