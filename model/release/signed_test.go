package release

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

func keys(t *testing.T) (minisign.PublicKey, minisign.PrivateKey) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	check(t, err)
	return public, private
}

// packed is an archive of members as they are.
func packed(t *testing.T, members []Member) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, pack(&b, members, dated))
	return b.Bytes()
}

func example() []Member {
	return []Member{{"claim.json", []byte("ε = 1")}, {"model.decoy", []byte("PK...")},
		{"synthetic.csv", []byte("a,b\n1,2\n")}, {"empty", nil}}
}

// archive is the example, signed, and all its members.
func archive(t *testing.T, key minisign.PrivateKey) ([]byte, []Member) {
	t.Helper()
	var b bytes.Buffer
	check(t, WriteSigned(&b, example(), key))
	all := must(unpack(b.Bytes()))
	return b.Bytes(), all
}

func same(a, b Member) bool { return a.Name == b.Name && bytes.Equal(a.Body, b.Body) }

func TestSignedRoundTrip(t *testing.T) {
	public, private := keys(t)
	data, _ := archive(t, private)
	got, err := OpenSigned(data, public)
	if err != nil || !slices.EqualFunc(got, example(), same) {
		t.Fatalf("got %v, %v", got, err)
	}
	if !IsSigned(data) || IsSigned(packed(t, example())) || IsSigned([]byte("a,b\n")) {
		t.Error("Is takes one for another")
	}
}

// TestSignedBytes: archives of today must open tomorrow, so the bytes around the members stay the
// same, whatever version of archive/zip wrote them.
func TestSignedBytes(t *testing.T) {
	const want = "7d53d07d7a20d2ccf10133c53540a0e3c40515ba04c3a21beb1f28b4e6897b9f"
	if got := fmt.Sprintf("%x", sha256.Sum256(packed(t, example()))); got != want {
		t.Errorf("got %s", got)
	}
}

// TestSignedDates: members have a date that programs which unpack them can show.
func TestSignedDates(t *testing.T) {
	out := packed(t, example())
	z := must(zip.NewReader(bytes.NewReader(out), int64(len(out))))
	if got, want := z.File[0].Modified, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the date is %v, want %v", got, want)
	}
}

// TestTampering: whatever is changed of an archive is refused, and the error names the member.
func TestTampering(t *testing.T) {
	public, private := keys(t)
	other, otherPrivate := keys(t)
	data, all := archive(t, private)
	n := len(all) - 2
	refused := func(what string, data []byte, key minisign.PublicKey, want string) {
		t.Helper()
		_, err := OpenSigned(data, key)
		if !errors.Is(err, errTampered) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	change := func(what, want string, f func([]Member) []Member) {
		t.Helper()
		refused(what, packed(t, f(slices.Clone(all))), public, want)
	}
	for i, m := range all {
		frame := i >= n // the list and its signature
		want := func(text string) string {
			if frame {
				return ""
			}
			return text
		}
		signed := fmt.Sprintf("%q is not as it was signed", m.Name)
		change(m.Name+" changed", want(signed), func(a []Member) []Member {
			a[i].Body = append([]byte("x"), m.Body...)
			return a
		})
		change(m.Name+" longer", want(signed), func(a []Member) []Member {
			a[i].Body = append(bytes.Clone(m.Body), '\n')
			return a
		})
		change(m.Name+" renamed", want(`x" is not as it was signed`),
			func(a []Member) []Member { a[i].Name += "x"; return a })
		change(m.Name+" left out", want("not all those that were signed"),
			func(a []Member) []Member { return slices.Delete(a, i, i+1) })
		change(m.Name+" twice", want("not all those that were signed"),
			func(a []Member) []Member { return slices.Insert(a, i, m) })
		change("added before "+m.Name, want(`"../new" is not as it was signed`),
			func(a []Member) []Member { return slices.Insert(a, i, Member{"../new", []byte("x")}) })
		first := 0
		if i == n+1 { // the first line is a comment that nobody signs
			first = bytes.IndexByte(m.Body, '\n')
		}
		for k := first; k < len(m.Body); k++ {
			change(fmt.Sprintf("byte %d of %s", k, m.Name), "", func(a []Member) []Member {
				a[i].Body = bytes.Clone(m.Body)
				a[i].Body[k] ^= 1 << (k % 8)
				return a
			})
		}
	}
	change("two swapped", "not all those that were signed, in their order", func(a []Member) []Member {
		a[0], a[1] = a[1], a[0]
		return a
	})
	forged := func(a []Member) []Member {
		a[0].Body = []byte("ε = 2")
		var b bytes.Buffer
		check(t, WriteSigned(&b, a[:n], otherPrivate))
		return must(unpack(b.Bytes()))
	}
	change("signed anew by another", "not with key", forged)
	refused("another key", data, other, "not with key")
	for k := 0; k < len(data); k += 3 {
		refused("cut short", data[:k], public, "")
	}
	refused("a byte before", append([]byte("x"), data...), public, "the archive around them")
	refused("a byte after", append(bytes.Clone(data), 'x'), public, "")
	for _, bad := range []string{"", "a,b\n1,2\n"} {
		refused("no archive", []byte(bad), public, "no zip archive")
	}
	for k := range data { // also what is not a member: headers and the directory
		flipped := bytes.Clone(data)
		flipped[k] ^= 4
		got, err := OpenSigned(flipped, public)
		if err == nil && !slices.EqualFunc(got, example(), same) {
			t.Errorf("byte %d changed, and it opens as %v", k, got)
		} else if err != nil && !errors.Is(err, errTampered) {
			t.Errorf("byte %d changed: %v", k, err)
		}
	}

	refused("a bomb", zipped(t, zip.Deflate, make([]byte, 1<<24), nil), public,
		`"manifest.json" is compressed`)
}

// TestWriteBounded: what could not be opened again is not written.
func TestWriteBounded(t *testing.T) {
	large := make([]byte, MaxSigned)
	err := WriteSigned(io.Discard, []Member{{"a", nil}, {"b", large}}, minisign.PrivateKey{})
	if err == nil || !strings.Contains(err.Error(), "b is too much") {
		t.Error(err)
	}
}
