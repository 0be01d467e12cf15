//go:build !amd64

package kernels

const detected = plain

func withLevel(_ level, f func()) { f() }
