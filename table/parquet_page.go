package table

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
)

// The types of pages.
const (
	pageV1         = 0
	pageDictionary = 2
	pageV2         = 3
)

// page is a page of a column.
type page struct {
	kind       int
	encoding   parquet.Encoding
	levelCoded parquet.Encoding // V1: how levels are coded
	values     int
	levels     []byte // V2: definition levels
	data       []byte // decompressed; V1: behind its levels
}

// pageReader reads the pages of a column chunk. Arrow's own believes a header's
// sizes and decompresses whatever comes; this one makes room for maxPage bytes
// at most and for what the allowance of the file has left.
type pageReader struct {
	r        *source
	off, end int64 // what is still to be read
	codec    compress.Compression

	stored []byte // of the page at hand
	data   []byte
	zstd   *zstd.Decoder
}

// codecs are the names of those that are not supported.
var codecs = map[compress.Compression]string{3: "LZO", 5: "LZ4", 7: "LZ4_RAW"}

// newPageReader refuses codecs that it does not know.
func newPageReader(r *source, off, end int64, codec compress.Compression) (*pageReader, error) {
	p := &pageReader{r: r, off: off, end: end, codec: codec}
	switch codec {
	case compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
		compress.Codecs.Brotli:
	case compress.Codecs.Zstd:
		var err error
		p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, errDamaged
		}
	default:
		name := codecs[codec]
		if name == "" {
			name = fmt.Sprintf("codec number %d", int(codec))
		}
		return nil, fmt.Errorf(
			"compressed with %s, which is not supported: write the file again with zstd or snappy", name)
	}
	return p, nil
}

// close frees what the reader holds.
func (p *pageReader) close() {
	if p.zstd != nil {
		p.zstd.Close()
	}
}

// pageHeader is what is used of a page's header.
type pageHeader struct {
	page
	length           int   // of the header, in bytes
	data, stored     int64 // bytes of the page, decompressed and not
	repeats, defines int64 // V2: bytes of the levels, which are not compressed
	plain            bool  // V2: neither is the rest
}

// next returns the next page, which is valid until the following call.
func (p *pageReader) next() (page, error) {
	h, err := p.header()
	if err != nil {
		return page{}, err
	}
	if h.data > maxPage {
		return page{}, errLargePage
	}
	levels := h.repeats + h.defines
	if h.stored > p.end-p.off || levels > h.stored || levels > h.data {
		return page{}, errDamaged
	}
	if err := p.r.take(int(h.data)); err != nil {
		return page{}, err
	}
	p.stored = room(p.stored, h.stored)
	if err := p.r.fill(p.stored, p.off); err != nil {
		return page{}, err
	}
	p.off += h.stored
	h.levels = p.stored[h.repeats:levels]
	if h.plain || p.codec == compress.Codecs.Uncompressed {
		if h.stored != h.data {
			return page{}, errDamaged
		}
		h.page.data = p.stored[levels:]
	} else {
		p.data = room(p.data, h.data-levels)
		if p.data, err = p.decompress(p.data, p.stored[levels:]); err != nil {
			return page{}, errDamaged
		}
		h.page.data = p.data
	}
	if h.kind == pageDictionary { // it stays
		p.stored, p.data = nil, nil
	}
	return h.page, nil
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
func (p *pageReader) decompress(dst, src []byte) ([]byte, error) {
	if len(dst) == 0 && len(src) == 0 {
		return dst, nil
	}
	switch p.codec {
	case compress.Codecs.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return nil, errDamaged
		}
		return snappy.Decode(dst, src)
	case compress.Codecs.Zstd:
		out, err := p.zstd.DecodeAll(src, dst[:0:len(dst)])
		if len(out) != len(dst) {
			return nil, errDamaged
		}
		return out, err
	case compress.Codecs.Brotli:
		return dst, fill(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	return dst, fill(dst, r)
}

// fill reads dst from r, which must end there.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errDamaged
	}
	return nil
}

// header reads the next page header.
func (p *pageReader) header() (pageHeader, error) {
	const most = 16 << 20 // bytes of a header, which may hold a smallest and a greatest text
	for want := int64(1 << 10); want <= most; want *= 16 {
		p.stored = room(p.stored, min(want, p.end-p.off))
		if err := p.r.fill(p.stored, p.off); err != nil {
			return pageHeader{}, err
		}
		if h, err := parsePageHeader(p.stored); err == nil {
			p.off += int64(h.length)
			return h, nil
		}
		if int64(len(p.stored)) == p.end-p.off {
			break
		}
	}
	return pageHeader{}, errDamaged
}

// parsePageHeader reads PageHeader of parquet.thrift.
func parsePageHeader(view []byte) (pageHeader, error) {
	t := newThrift(view, maxItems)
	h := pageHeader{page: page{kind: -1}, data: -1, stored: -1}
	body := -1
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			h.kind = int(t.natural(kind, math.MaxInt32))
		case id == 2:
			h.data = t.natural(kind, math.MaxInt32)
		case id == 3:
			h.stored = t.natural(kind, math.MaxInt32)
		case kind == thriftStruct && (id == 5 || id == 7 || id == 8):
			body = map[int64]int{5: pageV1, 7: pageDictionary, 8: pageV2}[id]
			t.pageBody(&h, body)
		default:
			return false
		}
		return true
	})
	if t.err != nil || body < 0 || body != h.kind || h.data < 0 || h.stored < 0 {
		return pageHeader{}, errDamaged
	}
	h.length = len(view) - len(t.data)
	return h, nil
}

// pageBody reads the struct in a page header for a page of the given kind.
func (t *thrift) pageBody(h *pageHeader, body int) {
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			h.values = int(t.natural(kind, math.MaxInt32))
		case body == pageV2 && id == 4, body != pageV2 && id == 2:
			h.encoding = parquet.Encoding(t.natural(kind, math.MaxInt32))
		case body == pageV1 && id == 3:
			h.levelCoded = parquet.Encoding(t.natural(kind, math.MaxInt32))
		case body == pageV2 && id == 5:
			h.defines = t.natural(kind, math.MaxInt32)
		case body == pageV2 && id == 6:
			h.repeats = t.natural(kind, math.MaxInt32)
		case body == pageV2 && id == 7:
			h.plain = kind == thriftFalse
		default:
			return false
		}
		return true
	})
}
