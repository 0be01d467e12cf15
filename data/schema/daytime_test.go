package schema

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// daytimeFacts are the kind that CONTRIBUTING adds: nothing but its facts is of its own.
var daytimeFacts = facts{
	name: "daytime", stored: StoredInt, keys: binKeys, layout: daytimes,
	notOne: cellError("not a time of day"), most: 24*60 - 1,
	outside: "is not between 00:00 and 23:59", singles: defaultBins,
}

func daytimes(string) *notation {
	return &notation{
		parse: func(cell []byte) (float64, bool) {
			t, err := time.Parse("15:04", string(cell))
			return float64(60*t.Hour() + t.Minute()), err == nil
		},
		print: func(dst []byte, v Value, _ int) []byte {
			return fmt.Appendf(dst, "%02d:%02d", v.Int/60, v.Int%60)
		},
	}
}

func TestAKindIsItsFacts(t *testing.T) {
	kinds, kindNames.texts = append(kinds, &daytimeFacts), append(kindNames.texts, daytimeFacts.name)
	defer func() {
		kinds, kindNames.texts = kinds[:len(kinds)-1], kindNames.texts[:len(kindNames.texts)-1]
	}()
	const file = "decoy: 1\ncolumns:\n" +
		"  - {name: at, kind: daytime, min: 08:00, max: 17:59, bins: 10}\n"
	s := stattest.Must(Parse([]byte(file)))
	text, err := s.YAML()
	check(t, err)
	again, err := Parse(text)
	check(t, err)
	codecs, err := again.Codecs()
	check(t, err)
	c := codecs[0]
	code, err := c.EncodeText([]byte("09:30"))
	if err != nil || c.Label(code) != "[09:00, 10:00)" {
		t.Errorf("09:30 is in %s: %v", c.Label(code), err)
	}
	cell := c.AppendText(nil, c.Decode(code, rand.New(rand.NewPCG(1, 2))))
	if back, err := c.EncodeText(cell); err != nil || back != code {
		t.Errorf("%s has code %d: %v", cell, back, err)
	}
	for _, cell := range []string{"9:3", "24:00", "570", "07:59"} {
		stattest.Fails(t, stattest.Err(c.EncodeText([]byte(cell))), "%q is taken", cell)
	}
}
