package eval

import (
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

// sortKeys sorts keys upwards by their digits, the lowest first. buffer is
// scratch space at least as long as keys; the two must not overlap.
func sortKeys(keys, buffer []uint64) {
	if len(keys) < smallSort {
		slices.Sort(keys)
		return
	}
	var count [digits][1 << digitBits]uint32
	for _, k := range keys {
		for d := range digits {
			count[d][k>>(d*digitBits)&(1<<digitBits-1)]++
		}
	}
	from, to := keys, buffer[:len(keys)]
	for d := range digits {
		c := &count[d]
		shift := d * digitBits
		if c[from[0]>>shift&(1<<digitBits-1)] == uint32(len(keys)) {
			continue // all keys have this digit
		}
		next := uint32(0)
		for i, n := range c {
			c[i] = next
			next += n
		}
		for _, k := range from {
			digit := k >> shift & (1<<digitBits - 1)
			to[c[digit]] = k
			c[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
	}
}
