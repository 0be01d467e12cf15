package schema

// WithGermanNumbers adds a form that nothing but tests has to the table, for the time of a test of
// the roads that cells take.
var WithGermanNumbers = withGermanNumbers
