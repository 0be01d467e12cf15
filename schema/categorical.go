package schema

import (
	"math"
	"strconv"
)

// categoricalRules: one of a list of texts.
type categoricalRules struct{}

func (categoricalRules) traits() traits {
	return traits{name: "categorical", stored: StoredText, keys: categoryKeys, notOne: errCategory}
}

// encode takes numbers and booleans as their texts: of a float64 the shortest decimal, 1 for 1.0.
func (categoricalRules) encode(c *Codec, as Stored, v Value) (uint16, error) {
	var text [32]byte
	switch as {
	case StoredBool:
		return c.EncodeText(strconv.AppendBool(text[:0], v.Int != 0))
	case StoredInt:
		return c.EncodeText(strconv.AppendInt(text[:0], v.Int, 10))
	case StoredFloat:
		if math.IsNaN(v.Float) {
			return c.EncodeMissing()
		}
		return c.EncodeText(strconv.AppendFloat(text[:0], v.Float, 'f', -1, 64))
	}
	return c.mistyped()
}

func (categoricalRules) write(dst []byte, _ *Codec, v Value) []byte {
	return append(dst, v.Text...)
}
