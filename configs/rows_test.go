package configs

import (
	"fmt"
	"strings"
	"testing"
)

// TestDrawnRows: a number of rows that noise alone may have made is not drawn unless it is asked
// for, and one that is above the noise is.
func TestDrawnRows(t *testing.T) {
	for _, c := range []struct {
		asked             int
		expected, epsilon float64
		want              int
	}{
		{0, 17761011, 1e-7, 10000}, {17761011, 17761011, 1e-7, 17761011}, {0, 9000, 1e-7, 9000},
		{0, 17761011, 1, 17761011}, {0, 48842, .01, 48842}, {0, -3, 1, 1}, {7, 1e9, 1e-7, 7},
		{0, 1e15, 1e-7, 2147483647}, {0, 1e8, 1e-7, 10000},
	} {
		said := ""
		got := DrawnRows(c.asked, c.expected, c.epsilon, func(format string, args ...any) {
			said = fmt.Sprintf(format, args...)
		})
		if got != c.want || (said != "") != (c.want == 10000) ||
			said != "" && !strings.Contains(said, "--rows") {
			t.Errorf("%+v: %d rows, %q", c, got, said)
		}
	}
}
