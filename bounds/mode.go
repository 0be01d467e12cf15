package bounds

// Mode selects what a certificate uses of the structure of the gradient, and with it the noise. It
// is immutable; the zero value is [Residual].
type Mode struct{ set *way }

// way is a way to the scales: of what it makes use, and how.
type way struct {
	name    string
	boxed   bool // one-hot cells are taken as independent numbers in [0, 1]
	clipped bool // it holds for clipped rows only
	// sets e.scales, and returns the root of the total variance and the greatest norm of one row
	scale func(e *ellipsoid) (total, norm float64)
	err   error // what is wrong with its settings
}

// Residual, the default, uses that one cell of a one-hot block is active (see block.go), for what
// is left of the gradient after a public linear predictor from the sum of the inputs, which is
// released with it (see residual.go). It has the least noise of those that clip nothing.
// Released vectors have Inputs extra coordinates.
var Residual Mode

func (m Mode) way() *way {
	if m.set == nil {
		return &way{name: "residual", scale: (*ellipsoid).solve}
	}
	return m.set
}

// String is the mode's name.
func (m Mode) String() string { return m.way().name }

// Clipped reports whether certificates hold for clipped rows only.
func (m Mode) Clipped() bool { return m.way().clipped }
