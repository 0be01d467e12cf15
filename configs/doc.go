// Package configs holds what a run is told: the settings of a method, one job, a batch of jobs. A
// batch file is read strictly, as package yamlfile does: a key that would not be used is an error
// that names its line and the nearest key that exists. It reads no private data.
package configs
