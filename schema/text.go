package schema

// categoricalFacts: one of a list of texts.
var categoricalFacts = facts{name: "categorical", keys: categoryKeys, notOne: errCategory}

// booleanFacts: one of two texts, that of false and that of true.
var booleanFacts = facts{name: "boolean", stored: StoredBool, keys: categoryKeys,
	notOne: errBoolean, pair: []string{"false", "true"}, alias: booleanAlias}

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
