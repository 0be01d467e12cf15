// Package report compares synthetic tables with the real ones they were made from, one or linked
// ones, and writes down what it finds: as JSON for programs, as one HTML file for people, as text
// for a terminal.
//
// A report is not private: every figure depends on every real row, without noise. It is for those
// who may see the real table, and is kept as safe as the table. It must not be published, nor be
// fed back into a method. The JSON says not_private: true, and the page says so at its top.
//
// The HTML is one file that needs no network: style and drawings (SVG) are in it, there is no
// script, and a content security policy forbids both. Text that comes from a schema is escaped.
//
// The page of [Model] is another: it is about a model, made of nothing else, and may be given away
// with it.
//
// [Compute] is one call for all numbers: it measures everything that eval.Metrics lists. A metric
// that these tables do not allow is listed with the reason.
package report
