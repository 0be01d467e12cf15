package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// newcomer prints what somebody needs who has nothing but CSV files: decoy generate is run on each
// table as it is, and again with the flag that its refusal names, until a synthetic table is there.
// A guess is a value that no refusal gives: that of epsilon is one.
func newcomer(args []string) {
	f := flag.NewFlagSet("newcomer", flag.ExitOnError)
	dir := f.String("tables", "", "`FOLDER` of tables, .csv")
	program := f.String("decoy", "decoy", "the `PROGRAM`")
	f.Parse(args)
	paths := must(filepath.Glob(filepath.Join(*dir, "*.csv")))
	if *dir == "" || len(paths) == 0 {
		fmt.Println("skipped: there is no folder of tables (-tables)")
		return
	}
	tmp := must(os.MkdirTemp("", "newcomer"))
	defer os.RemoveAll(tmp)
	// what a refusal names, and what is typed then
	answers := [][]string{{"--epsilon", "1"}, {"--header-is-public"}}
	fmt.Println("| table | commands | guesses | seconds of the last | it says |\n" +
		"| --- | --- | --- | --- | --- |")
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		line := []string{"generate", path, "--out", filepath.Join(tmp, name+"-synthetic.csv"),
			"--ledger", filepath.Join(tmp, name+".ledger")}
		commands, guesses, left := 0, 0, answers
		for {
			commands++
			start := time.Now()
			out, err := exec.Command(*program, line...).CombinedOutput()
			seconds := time.Since(start).Seconds()
			var refused *exec.ExitError
			if err != nil && !errors.As(err, &refused) {
				check(err)
			}
			if err != nil && len(left) > 0 && strings.Contains(string(out), left[0][0]) {
				line = append(line, left[0]...)
				guesses += len(left[0]) - 1
				left = left[1:]
				continue
			}
			says := strings.Split(strings.TrimSpace(string(out)), "\n")
			fmt.Printf("| %s | %d | %d | %.1f | %s |\n", name, commands, guesses, seconds,
				strings.ReplaceAll(says[len(says)-1], tmp+string(filepath.Separator), ""))
			break
		}
	}
}
