// want: rows.load undefined
package main

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

func main() {
	rows := privacy.File("t.csv", &schema.Schema{})
	fmt.Println(rows.load(context.Background()))
}
