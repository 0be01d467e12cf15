package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/stats"
)

// resultTexts are the texts of results, each by the name of its type. With --json the same values
// are printed, so what a text says of a value stands in the value or in its text, and nowhere else.
//
//go:embed results.txt
var resultTexts string

var results *template.Template

func init() { // as the texts of a signed release are results inside results
	results = template.Must(template.New("").Funcs(template.FuncMap{
		"budget": configs.BudgetText, "short": configs.Short, "percent": percent, "row": row,
		"plural": plural, "visible": spelling.Visible, "day": stamp, "columns": columnsOf,
		"describe": (*release.Model).Describe, "length": stats.Statistic.Length,
		"value": stats.Statistic.Text,
		"sizes": schemaSize, "sizeText": sizeText,
		"time": spelling.Time, "usable": func() int { return usableSigmas }, "whole": wholeRows,
		"text": textOf,
		"size": func(n any) string { return spelling.Size(reflect.ValueOf(n).Int()) },
		"join": func(texts []string) string { return strings.Join(texts, ", ") },
		"json": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return spelling.Visible(string(b)), err
		},
		"runs": func(l ledger.Excerpt) []ledger.Summary {
			return (&ledger.Ledger{Entries: l}).Runs()
		},
		"calls": func(c accountant.Composition) int { return calls(c) },
	}).Parse(resultTexts))
}

// writeAligned writes the text of a result, in which cells that end in tabs line up.
func writeAligned(w io.Writer, r any) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	return cmp.Or(writeText(aligned, r), aligned.Flush())
}

// textOf is the text of a result.
func textOf(r any) (string, error) {
	var out bytes.Buffer
	err := writeText(&out, r)
	return out.String(), err
}

// writeText writes the text of a result: of a type that has none of its own, by its template.
func writeText(w io.Writer, r any) error {
	if own, ok := r.(result); ok {
		own.text(w)
		return nil
	}
	return results.ExecuteTemplate(w, reflect.TypeOf(r).Name(), r)
}
