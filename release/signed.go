package release

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// plain is a name that is the same on every system and leads nowhere else.
var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// sum is the line of a member in the list.
func sum(m Member) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(m.Body), m.Name) }

// WriteSigned writes an archive of the members, in their order, signed with key: an error if they
// have more than MaxSigned less 1 MiB together.
func WriteSigned(w io.Writer, members []Member, key minisign.PrivateKey) error {
	var list strings.Builder
	seen := map[string]bool{sumsName: true, signatureName: true}
	total := 1 << 20 // the list, the signature and the directory
	for _, m := range members {
		if total += len(m.Body); total > MaxSigned {
			return fmt.Errorf("signed: a release has at most %d bytes, of which 1 MiB is for its list: "+
				"%s is too much; draw fewer rows", MaxSigned, m.Name)
		}
		if !plain.MatchString(m.Name) || seen[m.Name] {
			return fmt.Errorf("signed: a member cannot be called %q", m.Name)
		}
		seen[m.Name] = true
		list.WriteString(sum(m))
	}
	hashed := minisign.NewReader(strings.NewReader(list.String()))
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		return err
	}
	return pack(w, append(members[:len(members):len(members)],
		Member{sumsName, []byte(list.String())}, Member{signatureName, hashed.Sign(key)}), dated)
}

// dated is the date of every member: 1 January 1980, the first that the format has. Archives of
// earlier versions have 0.
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
// errTampered and names the member that is wrong, if it is one.
func OpenSigned(data []byte, key minisign.PublicKey) ([]Member, error) {
	all, err := unpack(data)
	if err != nil {
		return nil, err
	}
	n := len(all) - 2
	if n < 0 || all[n].Name != sumsName || all[n+1].Name != signatureName {
		return nil, tampered("not a signed release, or one that is cut short: it does not end "+
			"with %s and %s", sumsName, signatureName)
	}
	if err := checkSignature(all[n].Body, all[n+1].Body, key); err != nil {
		return nil, err
	}
	members := all[:n]
	if err := compare(members, string(all[n].Body)); err != nil {
		return nil, err
	}
	// Another program may read another file out of bytes around and between the members.
	same := false
	for _, at := range []uint16{dated, 0} {
		var again bytes.Buffer
		if err := pack(&again, all, at); err != nil {
			return nil, err
		}
		same = same || bytes.Equal(again.Bytes(), data)
	}
	if !same {
		return nil, tampered("the members are as they were signed, and the archive around them is not " +
			"(was it packed again?)")
	}
	return members, nil
}

func tampered(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errTampered)...)
}

// unpack reads every member. None is larger than the archive.
func unpack(data []byte) (all []Member, _ error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, tampered("no zip archive, or one that is cut short")
	}
	seen := map[string]bool{}
	left := uint64(len(data))
	for _, f := range z.File {
		switch {
		case !plain.MatchString(f.Name):
			return nil, tampered("%q is no name of a member", f.Name)
		case seen[f.Name]:
			return nil, tampered("%q is there twice", f.Name)
		case f.Method != zip.Store || f.UncompressedSize64 > left:
			return nil, tampered("%q is compressed, or longer than the archive", f.Name)
		}
		seen[f.Name] = true
		left -= f.UncompressedSize64
		r, err := f.Open()
		var body []byte
		if err == nil {
			body, err = io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
		}
		if err != nil || uint64(len(body)) != f.UncompressedSize64 {
			return nil, tampered("%q is damaged", f.Name)
		}
		all = append(all, Member{f.Name, body})
	}
	return all, nil
}

// checkSignature takes a signature in one spelling only.
func checkSignature(list, signature []byte, key minisign.PublicKey) error {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return tampered("%q is no signature of minisign", signatureName)
	}
	if s.KeyID != key.ID() {
		return tampered("%q was made with key %016X, not with key %016X", signatureName, s.KeyID,
			key.ID())
	}
	if !minisign.Verify(key, list, signature) {
		return tampered("%q is not the signature of %q by key %016X", signatureName, sumsName, key.ID())
	}
	if text, err := s.MarshalText(); err != nil || !bytes.Equal(text, signature) {
		return tampered("%q is not written as it was signed", signatureName)
	}
	return nil
}

// compare holds the members against the list, which is signed.
func compare(members []Member, list string) error {
	have := ""
	for _, m := range members {
		line := sum(m)
		switch {
		case !strings.Contains(list, line[sha256.Size*2:]):
			return tampered("%q is not among the signed members", m.Name)
		case !strings.Contains(list, line):
			return tampered("%q is not as it was signed", m.Name)
		}
		have += line
	}
	for line := range strings.Lines(list) {
		if !strings.Contains(have, line) {
			_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			return tampered("%q is signed, and missing", name)
		}
	}
	if have != list {
		return tampered("the members are not in the order in which they were signed")
	}
	return nil
}
