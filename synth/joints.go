package synth

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// jointsOf are all single columns, and those sets of columns that are not single, in order.
func jointsOf(columns int, sets [][]int) (out [][]int) {
	for c := range columns {
		out = append(out, []int{c})
	}
	for _, set := range sets {
		if set = slices.Sorted(slices.Values(set)); len(set) > 1 {
			out = append(out, set)
		}
	}
	slices.SortFunc(out, func(a, b []int) int {
		return slices.Compare(append([]int{len(a)}, a...), append([]int{len(b)}, b...))
	})
	return slices.CompactFunc(out, slices.Equal)
}

// maxJointCells is the most cells of all joints of a plan together: half a gigabyte of counts.
const maxJointCells = 1 << 26

// JointCells is the number of cells of a forecast's joints for tables of schema s. The error says
// why rows cannot be counted elsewhere for it, and wraps ErrConfig.
func JointCells(f Forecast, s *schema.Schema) (int, error) {
	if f.Joints == nil {
		return 0, fmt.Errorf("rows that another engine counts can be fitted by mst, "+
			"by aim, by mwem with marginals, and by wgan at rate 1 without mode ball and lipschitz "+
			"interpolates, with at most 2^19 weights; and with bins that the schema gives: %w",
			ErrConfig)
	}
	return CountedCells(f.Joints, s)
}

// CountedCells is the number of cells of joints for tables of schema s, which is at most
// [maxJointCells]: else the error wraps ErrConfig.
func CountedCells(joints [][]int, s *schema.Schema) (int, error) {
	sizes, all := s.Sizes(), 0.0 // whole numbers, exact as far as the limit goes
	for _, set := range joints {
		n := 1.0
		for _, c := range set {
			n *= float64(sizes[c])
		}
		all += n
	}
	if all > maxJointCells {
		return 0, fmt.Errorf("the tables that may be asked for have %.3g cells in all, "+
			"%.3g are possible where another engine counts: give columns fewer bins or categories, or "+
			"name the sets: %w", all, float64(maxJointCells), ErrConfig)
	}
	return int(all), nil
}
