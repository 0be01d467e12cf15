// Command decoy-postgres counts a table in PostgreSQL for decoy, which starts it:
//
//	decoy fit postgres://USER@HOST/DATABASE/TABLE --schema S --epsilon E --ledger L --model M
//
// The server turns rows into codes and counts them, in one query. See decoy help scale.
package main

import (
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/internal/engine"
)

func main() {
	if args := os.Args[1:]; len(args) != 1 || args[0] != engine.Verb {
		fmt.Fprintln(os.Stderr, "decoy-postgres is started by decoy: decoy fit "+
			"postgres://USER@HOST/DATABASE/TABLE --schema S --epsilon E --ledger L --model M (decoy help "+
			"scale)")
		os.Exit(2)
	}
	os.Exit(engine.Serve(count))
}
