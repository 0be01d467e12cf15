package release

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"aead.dev/minisign"
)

// This file is the archive of a release that is handed over: files, the list of their hashes, and a
// signature of the list. It is made of the formats of zip, sha256sum and minisign, so that it can
// be checked without decoy too:
//
//	unzip patients.zip && minisign -V -p KEY.pub -m SHA256SUMS && sha256sum -c SHA256SUMS

// errTampered is wrapped by every error about an archive that is not what its key has signed.
var errTampered = errors.New("the key did not sign this")

// Member is a file of an archive.
type Member struct {
	Name string // of letters, digits, dots, dashes and underscores
	Body []byte
}

// MaxSigned bounds an archive, which is made, and opened, in memory.
const MaxSigned = 2 << 30

// The last two members hold the others together.
const (
	sumsName      = "SHA256SUMS"
	signatureName = "SHA256SUMS.minisig"
)

// sum is the line of a member in the list.
func sum(m Member) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(m.Body), m.Name) }

// WriteSigned writes an archive of the members, in their order, signed with key: an error if they
// have more than MaxSigned less 1 MiB together.
func WriteSigned(w io.Writer, members []Member, key minisign.PrivateKey) error {
	var list strings.Builder
	total := 1 << 20 // the list, the signature and the directory
	for _, m := range members {
		if total += len(m.Body); total > MaxSigned {
			return fmt.Errorf("a release has at most %d bytes, of which 1 MiB is for its list: "+
				"%s is too much; draw fewer rows", MaxSigned, m.Name)
		}
		list.WriteString(sum(m))
	}
	hashed := minisign.NewReader(strings.NewReader(list.String()))
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		return err
	}
	return pack(w, append(members[:len(members):len(members)],
		Member{sumsName, []byte(list.String())}, Member{signatureName, hashed.Sign(key)}), dated)
}

// dated is the date of every member: 1 January 1980, the first that the format has.
const dated = 1<<5 | 1

// pack writes an archive, not compressed, whose bytes depend on nothing but its members and a date.
func pack(w io.Writer, members []Member, date uint16) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		f, err := z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Store, ModifiedDate: date})
		if err != nil {
			return err
		}
		if _, err := f.Write(m.Body); err != nil {
			return err
		}
	}
	return z.Close()
}

// IsSigned reports whether data is an archive that says it is signed; by whom, only OpenSigned can
// tell.
func IsSigned(data []byte) bool {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	return err == nil && len(z.File) > 0 && z.File[len(z.File)-1].Name == signatureName
}

// OpenSigned returns the members of an archive, if they are all that key has signed and the archive
// holds nothing else. It takes memory of a few times the length of data. Every error wraps
// errTampered and, if it is about one member, names it.
func OpenSigned(data []byte, key minisign.PublicKey) ([]Member, error) {
	all, err := unpack(data)
	if err != nil {
		return nil, err
	}
	n := len(all) - 2
	if n < 0 || all[n].Name != sumsName || all[n+1].Name != signatureName {
		return nil, fail(errTampered, "not a signed release, or one that is cut short: it does not end "+
			"with %s and %s", sumsName, signatureName)
	}
	list, signature := all[n].Body, all[n+1].Body
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err == nil && s.KeyID != key.ID() {
		return nil, fail(errTampered, "%q was made with key %016X, not with key %016X", signatureName,
			s.KeyID, key.ID())
	}
	// in the one spelling that it was signed in
	text, err := s.MarshalText()
	if err != nil || !bytes.Equal(text, signature) || !minisign.Verify(key, list, signature) {
		return nil, fail(errTampered, "%q is not the signature of %q by key %016X", signatureName,
			sumsName, key.ID())
	}
	have := ""
	for _, m := range all[:n] {
		have += sum(m)
		if !strings.Contains(string(list), sum(m)) {
			return nil, fail(errTampered, "%q is not as it was signed", m.Name)
		}
	}
	if have != string(list) {
		return nil, fail(errTampered, "the members are not all those that were signed, in their order")
	}
	// Another program may read another file out of bytes around and between the members.
	var again bytes.Buffer
	if err := pack(&again, all, dated); err != nil {
		return nil, err
	}
	if bytes.Equal(again.Bytes(), data) {
		return all[:n], nil
	}
	return nil, fail(errTampered, "the members are as they were signed, and the archive around them "+
		"is not (was it packed again?)")
}

// unpack reads every member. Together they are no larger than the archive.
func unpack(data []byte) (all []Member, _ error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fail(errTampered, "no zip archive, or one that is cut short")
	}
	left := uint64(len(data))
	for _, f := range z.File {
		if f.Method != zip.Store || f.UncompressedSize64 > left {
			return nil, fail(errTampered, "%q is compressed, or longer than the archive", f.Name)
		}
		left -= f.UncompressedSize64
		var body bytes.Buffer
		r, err := f.Open()
		if err == nil {
			_, err = io.Copy(&body, r) // which checks the length and the sum
		}
		if err != nil {
			return nil, fail(errTampered, "%q is damaged", f.Name)
		}
		all = append(all, Member{f.Name, body.Bytes()})
	}
	return all, nil
}
