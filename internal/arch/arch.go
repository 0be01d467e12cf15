// Package arch holds the order of the packages as a test: who may import whom, and who may read a
// private file.
package arch
