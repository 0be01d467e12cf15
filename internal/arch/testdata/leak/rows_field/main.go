// want: rows.load undefined
package main

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
)

func main() {
	rows := privacy.File("t.csv", &schema.Schema{})
	fmt.Println(rows.load(context.Background()))
}
