package table

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
)

// The types of pages.
const (
	pageV1         = 0
	pageDictionary = 2
	pageV2         = 3
)

// The compressions.
const (
	uncompressed  = 0
	codecSnappy   = 1
	codecGzip     = 2
	codecBrotli   = 4
	codecZstd     = 6
	maxPageHeader = 16 << 20 // bytes; it may hold a smallest and a greatest text
)

// page is a page of a column.
type page struct {
	kind, values         int64
	encoding, levelCoded int64
	size, stored         int64  // bytes, decompressed and not
	repeats, defines     int64  // V2: bytes of the levels, which are not compressed
	compressed           bool   // V2: the rest is
	levels               []byte // V2: definition levels
	data                 []byte // decompressed; V1: behind its levels
}

// pageReader reads the pages of a column chunk. It makes room for maxPage bytes at most and for
// what the allowance of the file has left.
type pageReader struct {
	r        *source
	off, end int64 // what is still to be read
	codec    int64

	stored []byte // of the page at hand
	data   []byte
	zstd   *zstd.Decoder
}

func newPageReader(r *source, off, end, codec int64) (p *pageReader, err error) {
	p = &pageReader{r: r, off: off, end: end, codec: codec}
	if codec == codecZstd {
		p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecodeAllCapLimit(true))
	}
	return p, err
}

// close frees what the reader holds.
func (p *pageReader) close() {
	if p.zstd != nil {
		p.zstd.Close()
	}
}

// next returns the next page, which is valid until the following call.
func (p *pageReader) next() (page, error) {
	h, err := p.header()
	if err != nil {
		return page{}, err
	}
	if h.size > maxPage {
		return page{}, errLargePage
	}
	levels := h.repeats + h.defines
	if h.stored > p.end-p.off || levels > h.stored || levels > h.size || h.values > math.MaxInt32 {
		return page{}, errDamaged
	}
	if err := p.r.take(int(h.size)); err != nil {
		return page{}, err
	}
	p.stored = room(p.stored, h.stored)
	if err := p.r.fill(p.stored, p.off); err != nil {
		return page{}, err
	}
	p.off += h.stored
	h.levels = p.stored[h.repeats:levels]
	if !h.compressed || p.codec == uncompressed {
		if h.stored != h.size {
			return page{}, errDamaged
		}
		h.data = p.stored[levels:]
	} else {
		p.data = room(p.data, h.size-levels)
		if p.data, err = p.decompress(p.data, p.stored[levels:]); err != nil {
			return page{}, errDamaged
		}
		h.data = p.data
	}
	if h.kind == pageDictionary { // it stays
		p.stored, p.data = nil, nil
	}
	return h, nil
}

// room returns a slice of n bytes, in buf if they fit.
func room(buf []byte, n int64) []byte {
	if int64(cap(buf)) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

// decompress returns what src holds, which must be as much as dst has room for;
// in dst or, at no more memory, elsewhere.
func (p *pageReader) decompress(dst, src []byte) (out []byte, err error) {
	if len(dst) == 0 && len(src) == 0 {
		return dst, nil
	}
	var r io.Reader
	switch p.codec {
	case codecSnappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return nil, errDamaged
		}
		return snappy.Decode(dst, src)
	case codecZstd:
		if out, err = p.zstd.DecodeAll(src, dst[:0:len(dst)]); len(out) != len(dst) {
			return nil, errDamaged
		}
		return out, err
	case codecBrotli:
		r = brotli.NewReader(bytes.NewReader(src))
	default:
		if r, err = gzip.NewReader(bytes.NewReader(src)); err != nil {
			return nil, err
		}
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return nil, err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, errDamaged // it must end there
	}
	return dst, nil
}

// header reads the next page header.
func (p *pageReader) header() (page, error) {
	for want := int64(1 << 10); want <= maxPageHeader; want *= 16 {
		p.stored = room(p.stored, min(want, p.end-p.off))
		if err := p.r.fill(p.stored, p.off); err != nil {
			return page{}, err
		}
		if h, length, ok := parsePageHeader(p.stored); ok {
			p.off += length
			return h, nil
		}
		if int64(len(p.stored)) == p.end-p.off {
			break
		}
	}
	return page{}, errDamaged
}

// parsePageHeader reads PageHeader of parquet.thrift, and tells its length.
func parsePageHeader(view []byte) (h page, length int64, ok bool) {
	t := newThrift(view)
	h = page{kind: -1, size: -1, stored: -1, compressed: true}
	body := int64(-1)
	inside := func(kind int64, fields ...field) func() {
		return func() {
			body = kind
			t.structure(append(fields, field{1, &h.values})...)
		}
	}
	t.structure(field{1, &h.kind}, field{2, &h.size}, field{3, &h.stored},
		field{5, inside(pageV1, field{2, &h.encoding}, field{3, &h.levelCoded})},
		field{7, inside(pageDictionary, field{2, &h.encoding})},
		field{8, inside(pageV2, field{4, &h.encoding}, field{5, &h.defines}, field{6, &h.repeats},
			field{7, &h.compressed})})
	ok = t.err == nil && body >= 0 && body == h.kind && h.size >= 0 && h.stored >= 0
	return h, int64(len(view) - t.from.Len()), ok
}
