//go:build !seam

package privacy

// Tests of what leaves have seam.go in place of this.
func recorded(_, _ string, answer []byte) []byte { return answer }
func watched[C any](_ *session, call C) C        { return call }
