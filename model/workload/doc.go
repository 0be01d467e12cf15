// Package workload is what a person wants to know of a table: marginals of any degree, ranges,
// prefix sums and counts of rows that satisfy a condition, each with a weight. A [Workload] is made
// from a strict YAML file ([Parse]) or from [Item] values ([New]), and is answered
//
//   - on rows of a public table ([Workload.OnTable]),
//   - on a graphical model, exactly, by variable elimination ([Workload.OnModel]),
//   - on a dense table of counts over some columns ([Dense]).
//
// Everything works on codes. Where rows are to be measured, a comparison with a number must cut
// the column between two bins: every query is then a sum of whole cells, which a single row
// changes by 0 or 1, and a bound inside a bin is an error that names the bin. Questions to a model
// ([Load], [Conditions]) may cut bins: see [Item.Fine]. Rows whose value is missing satisfy no
// comparison; not (…) of a comparison is its plain complement, missing rows included.
//
// Nothing here adds noise or reads private rows.
package workload
