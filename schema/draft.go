package schema

// Drafter drafts a schema from the rows of a public file.
type Drafter struct {
	MaxCategories int // most distinct texts of a categorical column; 0 = 1000
}

// NewDrafter starts a draft of a table with these column names.
func NewDrafter(names []string) *Drafter { panic("schema: not yet") }

// Add shows the drafter one row.
func (d *Drafter) Add(cells []string) { panic("schema: not yet") }

// Schema gives the draft.
func (d *Drafter) Schema() (*Schema, error) { panic("schema: not yet") }
