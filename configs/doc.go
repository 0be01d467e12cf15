// Package configs holds what a run is told: the settings of a method, one job, a batch of jobs. It
// reads YAML files, the environment and flags through Viper, strictly: an unknown key is an error
// that names its line and the nearest key that exists. It reads no private data.
package configs
