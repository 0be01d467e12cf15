package eval

import (
	"cmp"
	"math"
	"slices"
)

// sortKey maps a float to an integer of the same order, −0 and 0 to the same
// one. NaN has no place in the order.
func sortKey(x float64) uint64 {
	bits := math.Float64bits(x + 0) // −0 + 0 = 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// scoreOf is the inverse of sortKey.
func scoreOf(key uint64) float64 {
	if key>>63 != 0 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

const (
	digitBits = 11 // 6 digits cover 64 bits; 2048 counters stay in the first-level cache
	digits    = (64 + digitBits - 1) / digitBits
	smallSort = 4096 // below this the counters cost more than they save
)

// sortByKey sorts rows upwards by the digits of their keys, the lowest first.
// buffer is scratch space of the same length; the two must not overlap.
func sortByKey(rows, buffer []ranked) {
	if len(rows) < smallSort {
		slices.SortFunc(rows, func(a, b ranked) int { return cmp.Compare(a.key, b.key) })
		return
	}
	var count [digits][1 << digitBits]uint32
	for _, r := range rows {
		for d := range digits {
			count[d][r.key>>(d*digitBits)&(1<<digitBits-1)]++
		}
	}
	from, to := rows, buffer
	for d := range digits {
		c := &count[d]
		shift := d * digitBits
		if c[from[0].key>>shift&(1<<digitBits-1)] == uint32(len(rows)) {
			continue // all keys have this digit
		}
		next := uint32(0)
		for i, n := range c {
			c[i] = next
			next += n
		}
		for _, r := range from {
			digit := r.key >> shift & (1<<digitBits - 1)
			to[c[digit]] = r
			c[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &rows[0] {
		copy(rows, from)
	}
}
