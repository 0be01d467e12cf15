// Package schema is the public domain of a table: its columns, their kinds,
// categories, bounds and bins, and whether a cell may be missing. It parses and
// checks that description, and turns one cell into a small integer code and back.
//
// A schema is public. It is written by a person, drafted from a public sample
// (Drafter) or bought with privacy budget elsewhere; nothing here reads a
// private table, and no error about data contains a cell.
//
// # The file
//
// A schema file is YAML: one document, without anchors, aliases or tags, of at most 16 MiB. Scalars
// are taken as they are written, so the category no is the text "no". The keys, those of a column
// being optional but for name, kind and what the kind needs:
//
//	decoy: 1                      # version of the format
//	unit: patient_id              # id column; leave it out if every row is its own privacy unit
//	max_rows_per_unit: 4          # needed with unit
//	lenient: true                 # of public rows, none is an error; default false, see below
//	csv: {header: true, comma: ","}
//	columns:
//	  - name: age
//	    kind: integer             # categorical, integer, real, boolean, date, timestamp
//	    min: 0                    # inclusive; of dates and times in the format, or as 2006-01-02
//	    max: 120
//	    bins: 24                  # or {count: 24, spacing: log}; see Column.Bins, Log
//	    missing: ["", NA]         # texts that mean missing; the first one is written
//	    on_invalid: clamp         # refuse (default), clamp, other; see EncodeText
//	  - name: creatinine
//	    kind: real
//	    edges: [0, 0.5, 1, 2, 40] # instead of min, max and bins
//	    decimals: 2               # digits written behind the point; default by the bin width
//	  - name: pay
//	    kind: real
//	    min: 0
//	    max: 1e6
//	    # A fit buys 16 bins for .05 of its epsilon: see Column.BuyBins.
//	    bins: {dp: 16, share: 0.05, grid: 1024, spacing: log}
//	  - name: ward
//	    kind: categorical
//	    categories: [medical, surgical, elsewhere]
//	    on_invalid: other
//	    other: elsewhere          # one of the categories
//	  - name: died
//	    kind: boolean
//	    categories: [alive, dead] # the texts of false and true; default false, true
//	  - name: admitted
//	    kind: date
//	    format: 02/01/2006        # Go layout; default 2006-01-02, and RFC 3339 for timestamps
//	    min: 01/01/2001
//	    max: 31/12/2012
//	  - name: discharged
//	    kind: integer             # days after admitted: see Column.After
//	    after: admitted
//	    min: 0
//	    max: 90
//	  - name: record              # made columns: see Made
//	    kind: id                  # also lookup, sum, max
//	    pattern: "P######"
//	rules:                        # see Rule
//	  - {when: {age: {below: 10}}, then: {ward: [medical, elsewhere]}}
//
// # Lenient
//
// Of public rows, a strict schema, the default, makes a cell that it does not allow, and a row that
// cannot be read, an error. Under lenient: true, and of private rows always (ForPrivate), every row
// of a file becomes a row of codes, or none, by a rule that depends on that row alone: a cell that
// a column refuses becomes missing, else takes the nearest bin or a fixed code; so do all cells of
// a row that cannot be read (Codec.Unreadable); a row without a unit id belongs to nobody and is
// left out. See package table for what a row is.
package schema
