package serve

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// preview is the first rows of a synthetic CSV file, which may be shown to anyone.
func (s *Server) preview(name string) ([][]string, error) {
	if !strings.HasSuffix(name, ".csv") {
		return nil, errMissing
	}
	_, comma, err := s.header(name)
	if err != nil {
		return nil, err
	}
	f, err := s.folder.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most, mostBytes = 7, 64 << 10
	lines := csv.NewReader(io.LimitReader(f, mostBytes))
	lines.Comma, lines.FieldsPerRecord = rune(comma), -1
	var out [][]string
	for len(out) < most {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		out = append(out, line)
	}
	return out, nil
}
