package main

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth"
)

// manuals hold all that the help of a verb says, as text, in the file VERB.txt: in its head the
// usage, a summary, the exit codes beyond 0 to 2 (exit-N: what one means in this verb), the flags
// whose text is in flags.txt, those that must be given, those that must be typed because their
// names mean something else in other verbs, what is a file, and what numbers and words may be;
// then what it does; its operands; its own flags; one worked session, whose lines after "$ " run
// as they are, in order, in an empty directory.
//
//go:embed manual
var manuals embed.FS

const (
	operandsKey = "operands"
	exitsKey    = "exits"
	needsKey    = "needs"  // flags that must be given
	inputsKey   = "inputs" // operands that are files, the last for all further ones
	readsKey    = "reads"  // flags that name files
	writesKey   = "writes"
	limitsKey   = "limits" // NAME=LEAST..MOST: flags that are numbers
	oneOfKey    = "one-of" // flags that are one of their choices
)

// flags are the variables that the flags of a verb set. What they hold is the default.
type flags map[string]any

// names are a flag of names with commas between; one that has a comma itself is put in quotes, as
// in CSV.
type names []string

// does is what a verb does with its operands.
type does func(cmd *cobra.Command, t *terminal, args []string) error

// verb is the command of a manual, with the operands and flags that it names. The variables of
// later lists win.
func (t *terminal) verb(name string, run does, bound ...flags) *cobra.Command {
	head, text, _ := strings.Cut(manual(strings.ReplaceAll(name, " ", "-")), "\n\n")
	keys := map[string]string{}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		keys[key] += value + " "
	}
	text, example, _ := strings.Cut(text, "\nExample:\n")
	text, own, _ := strings.Cut(text, "\nFlags:\n")
	long, operands, _ := strings.Cut(text, "\nOperands:\n")
	cmd := &cobra.Command{Use: strings.TrimSpace(keys["usage"]),
		Short: strings.TrimSpace(keys["short"]), Long: long, Example: strings.TrimSpace(example),
		Annotations: keys,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer func() { // outputs that are not complete are removed
				for _, o := range t.begun {
					o.Abort()
				}
			}()
			return run(cmd, t, args)
		}}
	keys[operandsKey] = operands
	cmd.Args = operandsOf(cmd.Use, operands)
	codes := strings.Fields("0 1 2 " + keys[exitsKey])
	keys[exitsKey] = ""
	for _, code := range codes {
		n, _ := strconv.Atoi(code)
		own := strings.TrimSpace(keys["exit-"+code]) // of this verb
		keys[exitsKey] += fmt.Sprintf("  %-3d %s\n", n, cmp.Or(own, exitMeaning[n]))
	}
	variables := flags{"force": &t.force, "json": &t.json}
	for _, b := range bound {
		maps.Copy(variables, b)
	}
	texts, shared := flagTexts(own), flagTexts(manual("flags"))
	for _, name := range strings.Fields(keys["flags"]) {
		texts[name] = shared[name]
	}
	for name, text := range texts {
		define(cmd.Flags(), name, text, variables[name])
		if of := choices[name]; of != nil {
			cmd.RegisterFlagCompletionFunc(name, offer(of))
		}
	}
	for _, name := range strings.Fields(keys["typed"]) {
		cmd.Flags().SetAnnotation(name, typedKey, []string{})
	}
	return cmd
}

// manual is the text of a file, with the lists that it leaves to the program.
func manual(name string) string {
	page, err := manuals.ReadFile("manual/" + name + ".txt")
	if err != nil {
		panic("decoy: " + err.Error())
	}
	text := string(page)
	for list, of := range lists {
		if strings.Contains(text, list) {
			text = strings.ReplaceAll(text, list, of())
		}
	}
	return text
}

// lists are what a manual leaves to the program.
var lists = map[string]func() string{
	"{methods}":      func() string { return strings.Join(synth.Names(), ", ") },
	"{choices}":      func() string { return strings.Join(synth.Choices(), ", ") },
	"{mechanisms}":   func() string { return strings.Join(attack.GateNames(), ", ") },
	"{plain}":        func() string { return strings.Join(attack.Plain, ", ") },
	"{shapes}":       func() string { return strings.Join(attack.Shapes(), ", ") },
	"{min-runs}":     func() string { return strconv.Itoa(attack.MinRuns) },
	"{max-delta}":    func() string { return fmt.Sprint(accountant.MaxDelta) },
	"{statistics}":   func() string { return indent(stats.Statistics) },
	"{assumed-rows}": func() string { return fmt.Sprint(configs.AssumedRows) },
	"{draws}":        func() string { return strconv.Itoa(defaultDraws) },
	"{topics}":       topicList,
}

// offer has the shell offer values, which are made when it asks.
func offer(of func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return of(), cobra.ShellCompDirectiveDefault
	}
}

// operandsOf checks the number of operands, each of which begins a line of the manual. One is
// optional that the usage has in brackets, or with a flag that may stand in its place.
func operandsOf(usage, manual string) cobra.PositionalArgs {
	var names []string
	for line := range strings.Lines(manual) {
		if name, _, _ := strings.Cut(line, "  "); name != "" {
			names = append(names, name)
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(names) && (len(names) == 0 ||
			!strings.Contains(usage, names[len(names)-1]+"...")) {
			return usagef("unexpected operand %q; usage: %s", args[len(names)], cmd.UseLine())
		}
		for _, name := range names[min(len(args), len(names)):] {
			if !strings.Contains(usage, "["+name) && !strings.Contains(usage, name+"|--") &&
				!strings.Contains(usage, name+"...|--") {
				return usagef("%s is missing", name)
			}
		}
		return nil
	}
}

// flagTexts are the texts of flags by their names: lines of NAME: TEXT, and indented further ones.
func flagTexts(manual string) map[string]string {
	out, name := map[string]string{}, ""
	for line := range strings.Lines(manual) {
		text := line
		if !strings.HasPrefix(line, " ") {
			name, text, _ = strings.Cut(line, ": ")
		}
		out[name] = strings.TrimSpace(out[name] + " " + strings.TrimSpace(text))
	}
	return out
}

// define makes a flag that sets a variable.
func define(f *pflag.FlagSet, name, text string, variable any) {
	switch v := variable.(type) {
	case *bool:
		f.BoolVar(v, name, *v, text)
	case *int:
		f.IntVar(v, name, *v, text)
	case *uint64:
		f.Uint64Var(v, name, *v, text)
	case *float64:
		f.Float64Var(v, name, *v, text)
	case *string:
		f.StringVar(v, name, *v, text)
	case *[]string:
		f.StringArrayVar(v, name, nil, text)
	case *names:
		f.StringSliceVar((*[]string)(v), name, nil, text)
	case *time.Duration:
		f.DurationVar(v, name, *v, text)
	case pflag.Value:
		f.Var(v, name, text)
	default:
		panic("decoy: no variable for --" + name)
	}
	flag := f.Lookup(name)
	switch flag.Value.Type() {
	case "int", "uint64", "float64":
		flag.Value = decimalValue{flag.Value}
	}
}

// decimalValue is a number that is written in decimal: 010 is 8 to the parser of the flags, and
// 1_0 is 10.
type decimalValue struct{ pflag.Value }

func (v decimalValue) Set(text string) error {
	if !yamlfile.Decimal(text) {
		return errors.New("not a decimal number")
	}
	return v.Value.Set(text)
}

// choices are the values that the shell offers for a flag.
var choices = map[string]func() []string{
	"adjacency": func() []string {
		return []string{accountant.AddRemove.String(), accountant.ReplaceOne.String()}
	},
	"rule": func() []string { return []string{string(ledger.RuleBasic), string(ledger.RuleZCDP)} },
	"people": func() []string {
		return []string{string(release.Disjoint), string(release.MayOverlap)}
	},
	"by":         func() []string { return stats.Ways },
	"aggregator": func() []string { return vote.Aggregators },
	"method":     synth.Choices,
	"dataset":    datasets.Names,
	"tables":     func() []string { return append(attack.Shapes(), "all") },
}

// checkFlags checks what holds of flags in every verb, and chooses a public seed where none is
// given.
func checkFlags(cmd *cobra.Command) error {
	f := cmd.Flags()
	if err := need(cmd, strings.Fields(cmd.Annotations[needsKey])...); err != nil {
		return err
	}
	if seed := f.Lookup("seed"); seed != nil && !seed.Changed && seed.DefValue == "0" &&
		cmd.Name() != "generate" && cmd.Name() != "verify" { // whose tables are those of the model
		seed.Value.Set(strconv.FormatUint(rand.Uint64(), 10))
	}
	if err := configs.Distinct(filesOf(cmd)); err != nil {
		return err
	}
	if err := checkLimits(cmd); err != nil {
		return err
	}
	out, _ := f.GetString("out")
	safe, _ := f.GetBool("spreadsheet-safe")
	if format, err := configs.FormatOf("--out", out); safe && err == nil &&
		format.Written() && !format.IsCSV() {
		return usagef("--spreadsheet-safe is for CSV, which %s is not", out)
	}
	return nil
}

// checkLimits holds the numbers and the words that were given to what the manual allows. Rows have
// the bound of a job file.
func checkLimits(cmd *cobra.Command) error {
	for _, limit := range strings.Fields(cmd.Annotations[limitsKey] + " rows=1..2147483647") {
		name, ends, _ := strings.Cut(limit, "=")
		least, most, _ := strings.Cut(ends, "..")
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		x, _ := strconv.ParseFloat(f.Value.String(), 64)
		if a, err := strconv.ParseFloat(least, 64); err != nil || x < a {
			return usagef("--%s %s must be at least %s", name, f.Value, least)
		}
		if b, err := strconv.ParseFloat(most, 64); err == nil && x > b {
			return usagef("--%s %s must be at most %s", name, f.Value, most)
		}
	}
	for _, name := range strings.Fields(cmd.Annotations[oneOfKey]) {
		words := choices[name]()
		if f := cmd.Flag(name); f.Changed && !slices.Contains(words, f.Value.String()) {
			return usagef("--%s %q must be one of %s%s", name, f.Value, strings.Join(words, ", "),
				spelling.Hint(f.Value.String(), words))
		}
	}
	return nil
}

// need is an error for a flag that must be given and was not.
func need(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		switch f := cmd.Flags().Lookup(name); {
		case !f.Changed:
			return usagef("--%s is required", name)
		case f.Value.String() == "":
			return usagef("--%s is empty", name)
		}
	}
	return nil
}
