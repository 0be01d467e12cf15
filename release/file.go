package release

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/decoy-dp/decoy/schema"
)

const (
	manifestName   = "manifest.json"
	parametersName = "parameters.bin"
	maxManifest    = 256 << 20
	maxParameters  = 1 << 30
)

// Write writes the model file.
func (m *Model) Write(w io.Writer) error {
	manifest, err := json.MarshalIndent(m.Manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	z := zip.NewWriter(w)
	for _, part := range []struct {
		name string
		body []byte
	}{{manifestName, append(manifest, '\n')}, {parametersName, m.raw}} {
		f, err := z.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate})
		if err != nil {
			return fmt.Errorf("release: %w", err)
		}
		if _, err := f.Write(part.body); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// Open reads a model file. It checks the format and the parameters' checksum; [Model.Verify] checks the claim.
func Open(path string) (*Model, error) {
	info, err := os.Stat(path) // before the opening of a pipe waits for a writer
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("release: %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	m, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("release: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model file of size bytes. Hostile input is an error that wraps ErrFormat.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: no zip archive", ErrFormat)
	}
	if len(z.File) != 2 {
		return nil, fmt.Errorf("%w: %d entries, want %s and %s", ErrFormat, len(z.File), manifestName, parametersName)
	}
	manifest, err := entry(z, manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	raw, err := entry(z, parametersName, maxParameters)
	if err != nil {
		return nil, err
	}
	m := &Model{raw: raw}
	dec := json.NewDecoder(bytes.NewReader(manifest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m.Manifest); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, manifestName, err)
	}
	if m.Format != FormatVersion {
		return nil, fmt.Errorf("%w: format %d, this version reads %d", ErrFormat, m.Format, FormatVersion)
	}
	if m.Parameters.Bytes != len(raw) || m.Parameters.SHA256 != digest(raw) {
		return nil, fmt.Errorf("%w: %s does not match its checksum", ErrFormat, parametersName)
	}
	if m.schema, err = schema.Parse([]byte(m.SchemaYAML)); err != nil {
		return nil, fmt.Errorf("%w: its schema: %w", ErrFormat, err)
	}
	if m.params, err = decodeParams(m.Parameters.Kind, raw); err != nil {
		return nil, err
	}
	sizes, have := m.schema.Sizes(), m.params.Sizes()
	if len(sizes) != len(have) {
		return nil, fmt.Errorf("%w: schema and parameters disagree", ErrFormat)
	}
	for i := range sizes {
		if sizes[i] != have[i] {
			return nil, fmt.Errorf("%w: schema and parameters disagree on column %d", ErrFormat, i)
		}
	}
	return m, nil
}

// entry reads one entry, refusing more than limit bytes.
func entry(z *zip.Reader, name string, limit int64) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: no %s", ErrFormat, name)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s is damaged", ErrFormat, name)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", ErrFormat, name, limit)
	}
	return b, nil
}

// Describe is a few lines on the parameters.
func (m *Model) Describe() []string { return m.params.Describe() }
