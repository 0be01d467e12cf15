package table

// ScanText calls fn with the text of every row.
func ScanText(path string, header bool, comma byte, fn func(names []string, row []string) error) error {
	return errTODO
}
