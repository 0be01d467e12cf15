// Package spelling finds the name that a mistyped one may have meant, and makes foreign text
// visible.
package spelling

// Nearest is the name at the smallest [Distance] of text, the first of several, or "" where that is
// more than a third of the longer of both.
func Nearest(text string, names []string) string {
	best, least := "", -1
	for _, n := range names {
		d := Distance(text, n)
		if 3*d <= max(len(text), len(n)) && (least < 0 || d < least) {
			best, least = n, d
		}
	}
	return best
}

// Distance is Levenshtein's: the fewest insertions, deletions and replacements of a byte that turn
// a into b. It takes len(a)·len(b) steps.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
