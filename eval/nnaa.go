package eval

// Terms is a stub.
type Terms struct{ Real, Synthetic, Mean float64 }
