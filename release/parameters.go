package release

// Params are the model's parameters: a *[Marginal] or a *[Generator]. They must not be changed.
func (m *Model) Params() Params { return m.params }
