package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// clocks are what tells the time or the state of the machine. How long a step takes depends on
// private rows, so a decision by a clock is a release without noise.
var clocks = map[string][]string{
	"time": {
		"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep",
	},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"runtime": {"ReadMemStats", "NumGoroutine", "GC"},
	"debug":   {"ReadGCStats", "SetMemoryLimit", "SetGCPercent"},
}

// deciders are the packages that read rows, draw noise, or decide what is measured, released and
// charged next.
var deciders = []string{
	"synth", "gan", "model/marginal", "bounds", "noise", "model/workload", "model/release",
	"internal/kernels", "privacy/accountant", "privacy/ledger", "privacy", "data/table", "data/schema",
}

// lockWait has the files that wait for a ledger's lock and write the day.
var lockWait = []string{"privacy/ledger/file.go", "privacy/ledger/lock.go"}

// dayRead is the one place in a session that reads a clock: the day that the ledger has.
const dayRead = "privacy/session.go: time.Now"

func clockReads(files []file) (broken []string) {
	for _, f := range files {
		decides := slices.ContainsFunc(deciders, func(p string) bool {
			return f.pkg == p || strings.HasPrefix(f.pkg, p+"/")
		})
		if !decides || slices.Contains(lockWait, f.path) {
			continue
		}
		for _, i := range f.ast.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if clocks[path[strings.LastIndex(path, "/")+1:]] != nil && i.Name != nil {
				broken = append(broken, fmt.Sprintf("%s: %s is called %s", f.path, path, i.Name))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := sel.X.(*ast.Ident); ok && slices.Contains(clocks[from.Name], sel.Sel.Name) {
				broken = append(broken, fmt.Sprintf("%s: %s.%s", f.path, from.Name, sel.Sel.Name))
			}
			return true
		})
	}
	return broken
}

// TestNoClockDecides: no package that decides what a run measures, releases or is charged for can
// see how long it takes.
func TestNoClockDecides(t *testing.T) {
	days := 0
	for _, b := range clockReads(sources(t)) {
		if b == dayRead {
			days++
		} else {
			t.Error(b)
		}
	}
	if days != 1 {
		t.Errorf("%s is there %d times, want once", dayRead, days)
	}
	const late = `package aim; import "time"; var start = time.Now; var late = time.Since(start()) > 5`
	f, err := parser.ParseFile(token.NewFileSet(), "", late, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := clockReads([]file{{path: "synth/aim/x.go", pkg: "synth/aim", ast: f}}); len(got) != 2 {
		t.Errorf("a method with a clock: %v", got)
	}
	const hidden = `package privacy; import t "time"; var even = t.Now().Unix()%2 == 0`
	if f, err = parser.ParseFile(token.NewFileSet(), "", hidden, 0); err != nil {
		t.Fatal(err)
	}
	if got := clockReads([]file{{path: "privacy/x.go", pkg: "privacy", ast: f}}); len(got) != 1 {
		t.Errorf("a mechanism with a clock of another name: %v", got)
	}
}
