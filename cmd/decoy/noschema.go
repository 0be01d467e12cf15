package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/job"
)

// inferShare is the part of ε that the offered command lines spend on a schema.
const inferShare = 0.3

// noSchema explains the three ways to a schema of an input, with the command lines that go them.
func noSchema(verb, input string, b accountant.Budget) error {
	base := strings.TrimSuffix(filepath.Base(input), filepath.Ext(input))
	if input == job.Standard {
		input, base = "INPUT.csv", "schema"
	}
	in, yaml := shellWord(input), shellWord(base+".yaml")
	out := "--out " + shellWord("synthetic-"+base+".csv")
	if verb == "fit" {
		out = "--model " + shellWord(base+".model")
	}
	delta := ""
	if b.Delta != configs.DefaultDelta {
		delta = fmt.Sprintf(" --delta %v", b.Delta)
	}
	then := func(epsilon float64) string {
		return fmt.Sprintf("decoy %s %s --schema %s --epsilon %s%s %s", verb, in, yaml,
			job.Short(epsilon),
			delta, out)
	}
	return usagef(`--schema is required: a schema says what is publicly known of the columns
(kinds, categories, bounds). There are three ways to get one:

(1) buy it from the private rows, with a part of the budget:
    decoy schema infer %s --epsilon %s%s --header-is-public --out %s
    %s
(2) draft it from a public file with the same columns, such as made-up rows:
    decoy schema draft --public SAMPLE.csv > %s
    %s
(3) write it by hand (decoy help schema), with an example to start from:
    decoy datasets export icu-mortality --schema-out %s
    %s

decoy schema check %s shows what it says`,
		in, job.Short(b.Epsilon*inferShare), delta, yaml, then(b.Epsilon*(1-inferShare)), yaml,
		then(b.Epsilon), yaml, then(b.Epsilon), yaml)
}

// shellWord quotes a text for a shell where it needs that.
func shellWord(text string) string {
	plain := text != ""
	for _, r := range text {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("./_-+,@%", r))
	}
	if plain && !strings.HasPrefix(text, "-") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
