package schema

// booleanRules: one of two texts, that of false and that of true.
type booleanRules struct{}

func (booleanRules) traits() traits {
	return traits{
		name: "boolean", stored: StoredBool, keys: categoryKeys, notOne: errBoolean,
		pair: []string{"false", "true"}, alias: booleanAlias,
	}
}

// encode takes numbers as their texts, like a categorical column.
func (booleanRules) encode(c *Codec, as Stored, v Value) (uint16, error) {
	if as != StoredBool {
		return categoricalRules{}.encode(c, as, v)
	}
	if v.Int != 0 {
		return 1, nil
	}
	return 0, nil
}

func (booleanRules) write(dst []byte, c *Codec, v Value) []byte {
	return append(dst, c.column.Categories[v.Int]...)
}

// booleanAlias reads a common text of true (1) or false (0); −1 is neither.
func booleanAlias(cell []byte) int {
	if len(cell) == 0 || len(cell) > 5 {
		return -1
	}
	var lower [5]byte
	for i, b := range cell {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	switch string(lower[:len(cell)]) {
	case "true", "t", "yes", "1":
		return 1
	case "false", "f", "no", "0":
		return 0
	}
	return -1
}
