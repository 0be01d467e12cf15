// Package configs holds what a run is told, which is the settings of a method, one [Job] or a
// [Batch] of jobs, and carries it out. A batch file is read strictly, as package yamlfile does: a
// key that would not be used is an error that names its line and the nearest key that exists.
//
// A job is checked as far as it can be without its rows, then the ledger that pays is found, a run
// that did not come to its end is continued, and the outputs are put in place. One job is decoy
// generate or fit; a batch is many of them. The package prints nothing: what a person should know
// goes through Account.Say.
package configs
