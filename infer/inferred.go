package infer

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
)

// Inferred is a bought schema. All of it is public.
type Inferred struct {
	InferencePlan
	Noise     noise
	Rows      float64          // noisy number of rows
	Threshold int64            // rows: a text in fewer is not listed
	Columns   []inferredColumn // in the order of the file
	Tables    []*Inferred      // what was bought of each table that has columns: of one, itself
	Rules     []Rule           // that were found, or that are likely

	base     schema.Schema  // without its columns
	ofLinked bool           // it is one of linked tables
	linked   *schema.Linked // of all of these, in the first
}

// inferredColumn is what was found out about one column of the file.
type inferredColumn struct {
	Name  string
	Found *schema.Column // nil: nothing that could be used
	Made  *schema.Made   // what it is made of in place of that, by a rule
	Note  string         // the noisy counts behind it, for people
	// its values are a few whole numbers within coarse bounds: if they are codes, some may not exist
	Codes bool
	Doubt string   // what else is said of its values
	Cut   string   // how many of them the bounds cut off, if they are many
	Taken []string // texts among its values that are read as missing

	bought bool   // rather than declared
	rule   string // that it is made by, and what it is without
	counts counts
}

// Schema is the schema of the columns that could be described. It is lenient: it
// reads the table as it was read to buy it, without an error about a row.
func (r *Inferred) Schema() *schema.Schema {
	s := r.base
	for _, c := range r.Columns {
		switch {
		case c.Made != nil:
			made := *c.Made
			made.At = len(s.Columns) + len(s.Made)
			s.Made = append(s.Made, made)
		case c.Found != nil:
			s.Columns = append(s.Columns, *c.Found)
		case r.base.CSV.NoHeader: // columns go by position: one that is left out must stay as a place
			s.Columns = append(s.Columns, schema.UnknownColumn(c.Name))
		}
	}
	return &s
}

// checkSchema leaves out what is no column, for it is paid for, and refuses a result in which
// nothing was bought, and one that is no schema.
func (r *Inferred) checkSchema() error {
	for i := range r.Columns {
		c := &r.Columns[i]
		if !c.bought {
			continue
		}
		if f := c.Found; f.Kind.Whole() && f.Min >= 19e6 && f.Max < 21e6 &&
			f.Max-f.Min > maxCodes {
			c.Doubt = "if its numbers are dates, such as 20180131, say so in a schema: kind: date, " +
				"format: YYYYMMDD"
		}
		if _, err := schema.NewCodec(*c.Found); err != nil {
			c.Found, c.bought, c.Note = nil, false, "left out: no valid column: "+err.Error()
		}
	}
	s := r.Schema()
	if !slices.ContainsFunc(r.Columns, func(c inferredColumn) bool { return c.bought }) {
		return fmt.Errorf("about %.0f rows, noise ±%.0f: %w", r.Rows, r.Noise.Kinds,
			release.ErrNothing)
	}
	if err := s.Validate(); err != nil {
		return err
	}
	return nil
}

// YAML is the schema file, with what was bought, at what noise, as comments.
func (r *Inferred) YAML() ([]byte, error) {
	tables, name, indent := r.Linked(), "", ""
	text, err := tables.YAML()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	text = bytes.TrimSuffix(text, []byte("\n"))
	parts := []string{"", string(text)} // before the tables, and each of them
	if len(tables.Names()) > 1 {
		name, indent = "  - name: ", "    "
		parts = strings.Split(parts[1], "\n"+name)
		b.WriteString(parts[0] + "\n")
	}
	for i, own := range r.Tables {
		own.writeHead(&b)
		b.WriteString(name)
		own.writeNotes(&b, parts[1+i]+"\n", indent)
	}
	return b.Bytes(), nil
}

// writeNotes writes a text in which the columns stand so far in, with what is to be said of each.
func (r *Inferred) writeNotes(b *bytes.Buffer, text, indent string) {
	next := 0
	skip := func() {
		for next < len(r.Columns) && r.Columns[next].Found == nil && !r.base.CSV.NoHeader {
			fmt.Fprintf(b, "%s  # %q\n%[1]s  #   %[3]s\n", indent, r.Columns[next].Name,
				r.Columns[next].Note)
			next++
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, indent+"  - name: ") {
			skip()
			c := r.Columns[next]
			for _, note := range []string{c.Note, c.Doubt, c.Cut, c.rule} {
				if note != "" {
					fmt.Fprintf(b, "%s  # %s\n", indent,
						strings.ReplaceAll(strings.TrimSuffix(note, "\n"), "\n", "\n"+indent+"  # "))
				}
			}
			next++
		}
		b.WriteString(line)
	}
	skip()
	r.writeLikely(b)
}

// writeHead is what holds for all columns; the comment of a column says what differs.
func (r *Inferred) writeHead(w io.Writer) {
	rows, units := "rows", r.Neighbours.Units(r.base.Unit).Words()
	if r.ofLinked {
		rows, units = "units with rows, of each of which one row was counted", fmt.Sprintf(
			"%v, unit = one %q, with all its rows in all tables", r.Neighbours.Adjacency, r.base.Unit)
	}
	how := "Bought with epsilon %v, delta %v (%v) by schema infer"
	if r.Share < 1 {
		how = "Bought in a run that cost epsilon %v, delta %v (%v) in all"
	}
	fmt.Fprintf(w, "# "+how+".\n", r.Budget.Epsilon, r.Budget.Delta,
		units)
	fmt.Fprintf(w, `# What is not declared below follows from noisy counts, so it may be shown to anyone, corrected
# by hand, and used for any number of runs.
# The table has about %.0f %s. The noise (standard deviation) is %.3g rows in a count of the cells
# of one kind, %.3g rows in one of a text, and %.3g rows in one of a magnitude.
# Numbers and dates: the bounds are where what stands out of the noise ends; a value beyond is moved
# to the bound. A cell such as 90+ or <0.1 is read as its number, one that holds none as missing or,
# where nothing is, as a middle value.
`, r.Rows, rows, r.Noise.Kinds, r.Noise.Texts.Sigma, r.Noise.Values.Sigma)
	if r.Rows < coarseRows*r.Noise.Values.Sigma {
		fmt.Fprintf(w, "# The rows are few for the noise, so the bounds are coarse.\n")
	}
	fmt.Fprintf(w, `# Texts: those in about %d rows or more are listed, the most frequent first. Others are read as
# "(other)" or, where they are too few to be seen, as the most frequent one.
`, r.Threshold)
}
