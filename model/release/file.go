package release

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

const (
	manifestName   = "manifest.json"
	parametersName = "parameters.bin"
)

// The bounds of a model file, each enforced before what it bounds takes memory. Besides them, the
// schema has those of [schema.Parse], the ledger has a bounded number of entries, and
// the parameters are decoded into a small multiple of their bytes.
const (
	maxManifest   = 64 << 20 // bytes; that of a wide table is below 1 MB
	maxSettings   = 4 << 20  // bytes of JSON
	maxParameters = 1 << 30  // bytes; a graphical model has 8 a cell
)

// Write writes the model file.
func (m *Model) Write(w io.Writer) error {
	manifest, err := json.MarshalIndent(m.Manifest, "", "  ")
	if err == nil {
		err = pack(w, []Member{{manifestName, append(manifest, '\n')}, {parametersName, m.raw}}, 0)
	}
	return err
}

// Open reads a model file. It checks the format and the parameters' checksum; [Model.Verify] checks
// the claim.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	var m *Model
	if err == nil {
		m, err = Read(f, info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a model file of size bytes. Hostile input is an error that wraps ErrFormat. Whatever
// the file holds, it takes at most 300 MB and a small multiple of size: a manifest is at most
// 64 MiB and parameters 1 GiB, stored as they are.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: no zip archive", ErrFormat)
	}
	if len(z.File) != 2 {
		return nil, fmt.Errorf("%w: %d entries, want %s and %s", ErrFormat, len(z.File), manifestName,
			parametersName)
	}
	manifest, err := entry(z, size, manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	raw, err := entry(z, size, parametersName, maxParameters)
	if err != nil {
		return nil, err
	}
	var version struct{ Format int }
	if json.Unmarshal(manifest, &version) == nil && version.Format != formatVersion {
		return nil, fmt.Errorf("%w: of format %d, this decoy reads format %d", ErrFormat,
			version.Format, formatVersion)
	}
	m := &Model{raw: raw}
	dec := json.NewDecoder(bytes.NewReader(manifest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m.Manifest); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, manifestName, err)
	}
	var tables *schema.Linked
	if m.Parameters.Kind == kindLinked {
		if tables, err = schema.ParseLinked([]byte(m.SchemaYAML)); err == nil {
			m.schema = tables.Tables[0].Schema
		}
	} else {
		m.schema, err = schema.Parse([]byte(m.SchemaYAML))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: its schema: %w", ErrFormat, err)
	}
	if m.params, err = m.decode(raw, m.schema.Sizes(), tables); err != nil {
		return nil, err
	}
	file, again := sha256.New(), sha256.New()
	_, err = io.Copy(file, io.NewSectionReader(r, 0, size))
	m.altered = cmp.Or(err, m.Write(again)) != nil || !bytes.Equal(file.Sum(nil), again.Sum(nil))
	return m, nil
}

// decode reads the parameters that a manifest describes, for columns of so many codes, or for
// linked tables: of a joint model those of each party, one behind the other.
func (m *Manifest) decode(raw []byte, sizes []int, l *schema.Linked) (out Params, err error) {
	if m.Parameters.Bytes != len(raw) || m.Parameters.SHA256 != digest(raw) {
		return nil, fmt.Errorf("%w: %s does not match its checksum", ErrFormat, parametersName)
	}
	if m.Parameters.Kind == kindJoint && len(m.Parties) > 0 {
		var all joint
		for _, p := range m.Parties {
			n := min(max(0, p.Parameters.Bytes), len(raw))
			one, err := p.decode(raw[:n], sizes, nil)
			if err != nil {
				return nil, fmt.Errorf("party %q: %w", p.Name, err)
			}
			all, raw = append(all, part{one, raw[:n]}), raw[n:]
		}
		if out = all; len(raw) > 0 {
			return nil, fmt.Errorf("%w: %s has more than its parties'", ErrFormat, parametersName)
		}
	} else if out, err = decodeParams(m.Parameters.Kind, raw); err != nil {
		return nil, err
	}
	if p, ok := out.(*Linked); ok {
		if l == nil {
			return nil, fmt.Errorf("%w: a party of linked tables", ErrFormat)
		}
		if err := p.of(l); err != nil {
			return nil, err
		}
	}
	switch {
	case m.Rows != out.Total() || !validRows(m.Rows):
		return nil, fmt.Errorf("%w: %v rows, and %v in its parameters", ErrFormat, m.Rows, out.Total())
	case !slices.Equal(sizes, out.Sizes()):
		return nil, fmt.Errorf("%w: schema and parameters disagree", ErrFormat)
	}
	return out, nil
}

// entry reads one entry of a file of size bytes, refusing more than limit bytes, and one that is
// compressed.
func entry(z *zip.Reader, size int64, name string, limit uint64) ([]byte, error) {
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: no %s", ErrFormat, name)
	}
	h := z.File[i].FileHeader
	if h.Method != zip.Store {
		return nil, fmt.Errorf("%w: %s is compressed", ErrFormat, name)
	}
	limit = min(limit, uint64(size))
	if h.UncompressedSize64 > limit {
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", ErrFormat, name, limit)
	}
	f, err := z.File[i].Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s is damaged", ErrFormat, name)
	}
	defer f.Close()
	b := make([]byte, h.UncompressedSize64)
	_, err = io.ReadFull(f, b)
	// the end checks the sum
	if n, end := f.Read(make([]byte, 1)); err != nil || n > 0 || end != io.EOF {
		return nil, fmt.Errorf("%w: %s is damaged", ErrFormat, name)
	}
	return b, nil
}

// Describe is a few lines on the parameters.
func (m *Model) Describe() []string { return m.params.Describe() }
