package table

import (
	"errors"
	"fmt"
)

// maxMistakes is how many mistakes of a file an error tells of.
const maxMistakes = 10

// mistake is a cell that the schema does not allow.
type mistake struct {
	err error
	key string // of the column and the cell: a typo that comes again is told of once
}

// mistakes are the first of a file, in its order: whoever mends it need not look for them one by
// one.
type mistakes []mistake

// add takes one more, unless it is there already.
func (m *mistakes) add(one mistake) {
	for _, old := range *m {
		if old.key == one.key {
			return
		}
	}
	if !m.full() {
		*m = append(*m, one)
	}
}

func (m mistakes) full() bool { return len(m) == maxMistakes }

// err is one error about all of them, and about what ended the read after them: nil for nothing.
func (m mistakes) err(end error) error {
	var all []error
	for _, one := range m {
		all = append(all, one.err)
	}
	switch {
	case m.full():
		all = append(all, fmt.Errorf("table: these are the first %d; there may be more", maxMistakes))
	case end != nil:
		all = append(all, end)
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
