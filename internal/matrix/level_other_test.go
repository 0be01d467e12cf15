//go:build !amd64

package matrix

import "github.com/decoy-dp/decoy/internal/kernels"

func withLevel(_ kernels.Level, f func()) { f() }
