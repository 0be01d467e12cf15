package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// What a Parquet file may take. Files are believed in nothing before they are
// held to these: Arrow makes room for what a footer or a page header says, and to
// run out of memory ends the process. At most some two gigabytes, and what is in
// proportion to the length of the file, are in use at a time.
const (
	maxFooter = 64 << 20 // bytes of the footer
	// structs and elements of lists in it; Arrow makes some 100 bytes of each
	maxItems      = 1 << 22
	maxElements   = 4 * maxColumns // fields of the schema, groups included
	maxGroupDepth = 64             // groups inside each other
	maxPaths      = 64 << 20       // bytes of the names of all columns, with those of their groups
	maxChunks     = 1 << 19        // columns times row groups
	maxPage       = 128 << 20      // bytes of a page, decompressed
	maxEntries    = 1 << 22        // of a dictionary
	maxDeltas     = 1 << 24        // integers of a page that are coded by their differences
	maxBatch      = 64 << 20       // bytes of the texts of stride values that share prefixes

	maxCells = 1 << 27 // cells of a table, and maxRatio more for each byte of its file
	maxBytes = 1 << 30 // bytes of its pages, decompressed, and of texts; likewise
	maxRatio = 1 << 10

	unitCost   = 256 // bytes that a distinct id or text is counted as, besides its own
	lookupCost = 16  // likewise, one that is not new
)

var (
	errLargeFooter = errors.New("a Parquet footer of more than 64 MiB, " +
		"or of more than 524288 columns times row groups")
	errLargePage = fmt.Errorf("a Parquet page of more than %d MiB: write the file with smaller pages",
		maxPage>>20)
	errTooMuch = errors.New(
		"a file that holds far more than its length lets expect: over 1 GiB, or " +
			"128 million cells, and 1024 more for each of its bytes")
)

// atLeast gives a limit for a file: base and maxRatio for each of its bytes.
func atLeast(base, size int64) int64 {
	if size > (math.MaxInt64-base)/maxRatio {
		return math.MaxInt64
	}
	return base + maxRatio*size
}

// allowance is how many bytes the reading of a file may still decompress or
// copy, which bounds its time. It is shared by goroutines.
type allowance struct{ left atomic.Int64 }

func (a *allowance) take(n int) error {
	if a.left.Add(-int64(n)) < 0 {
		return errTooMuch
	}
	return nil
}

// footerOf returns the footer of a Parquet file: the bytes before its length and
// the mark at the end of the file.
func footerOf(s *source) ([]byte, error) {
	const tail = 8
	if s.size < tail+4 {
		return nil, errDamaged
	}
	end := make([]byte, tail)
	if err := s.fill(end, s.size-tail); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != "PAR1" || length > s.size-tail {
		return nil, errDamaged
	}
	if length > maxFooter {
		return nil, errLargeFooter
	}
	footer := make([]byte, length)
	return footer, s.fill(footer, s.size-tail-length)
}

// checkFooter goes through a footer (FileMetaData in
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift)
// before Arrow does.
func checkFooter(footer []byte) (err error) {
	t := newThrift(footer, maxItems)
	leaves, groups := -1, 0
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			leaves = t.schemaTree()
		case id == 4 && kind == thriftList && leaves >= 0: // no writer has another order
			t.list(thriftStruct, func() {
				if groups++; groups*max(leaves, 1) > maxChunks {
					err = errLargeFooter
					t.fail()
				}
				t.rowGroup(leaves)
			})
		case id == 2, id == 4:
			t.fail()
		default:
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case t.full:
		return errLargeFooter
	case t.err != nil || leaves < 0:
		return errDamaged
	}
	return nil
}

// schemaTree goes through the list of the schema's elements, a tree in preorder,
// and returns the number of its leaves.
func (t *thrift) schemaTree() (leaves int) {
	type group struct{ left, path int64 }
	var (
		open  []group // from the root to the element at hand
		paths int64
		first = true
	)
	n := t.list(thriftStruct, func() {
		children, name := t.schemaElement()
		at := group{left: children, path: name}
		for len(open) > 0 && open[len(open)-1].left == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1].left--
			at.path += open[len(open)-1].path
		} else if !first {
			t.fail()
		}
		if children > 0 || first {
			open = append(open, at)
		} else {
			leaves++
			paths += at.path
		}
		first = false
		if len(open) > maxGroupDepth || paths > maxPaths {
			t.fail()
		}
	})
	for _, g := range open {
		if g.left > 0 {
			t.fail()
		}
	}
	if n == 0 || n > maxElements {
		t.fail()
	}
	return leaves
}

// schemaElement goes through an element of the schema and returns how many
// children it has and the length of its name.
func (t *thrift) schemaElement() (children, name int64) {
	t.structure(func(id int64, kind byte) bool {
		switch id {
		case 4:
			if kind != thriftBinary {
				t.fail()
			}
			name = int64(len(t.take(t.unsigned())))
		case 5:
			children = t.natural(kind, maxElements)
		default:
			return false
		}
		return true
	})
	return children, name + 1
}

// rowGroup goes through a row group, which has a chunk for each of so many leaves, and a number of
// rows.
func (t *thrift) rowGroup(leaves int) {
	chunks := -1
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			chunks = t.list(thriftStruct, func() { t.skip(thriftStruct) })
		case id == 3:
			t.natural(kind, 1<<48)
		default:
			return false
		}
		return true
	})
	if chunks != leaves {
		t.fail()
	}
}
