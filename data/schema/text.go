package schema

import "bytes"

// categoricalFacts: one of a list of texts.
var categoricalFacts = facts{name: "categorical", keys: categoryKeys, notOne: errCategory}

// booleanFacts: one of two texts, that of false and that of true.
var booleanFacts = facts{name: "boolean", stored: StoredBool, keys: categoryKeys,
	notOne: errBoolean, pair: []string{"false", "true"}, alias: booleanAlias}

// booleanAlias reads a common text of true (1) or false (0); −1 is neither.
func booleanAlias(cell []byte) int {
	for i, word := range [...]string{"false", "true", "f", "t", "no", "yes", "0", "1"} {
		if len(cell) == len(word) && bytes.EqualFold(cell, []byte(word)) {
			return i % 2
		}
	}
	return -1
}
