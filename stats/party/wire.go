package party

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/decoy-dp/decoy/privacy"
)

// message is one of a party to the one that adds up, or of that to a party. Step counts the
// messages of a run, so that none can stand for another.
type message struct {
	Step int
	Kind string   // of all parties in a step the same; kindEnd: somebody gave up
	Data []byte   // of a party
	List [][]byte // the answer: what each party sent, or for kindShare one sum
	Why  string   // of kindEnd
}

// The kinds of messages, in the order of a run.
const (
	kindTerms     = "terms"
	kindKey       = "key"
	kindSignature = "signature"
	kindShare     = "share"
	kindModel     = "model"
	kindEnd       = "end"
)

// maxFrame is above the length of every share: eight bytes a number, in base64.
const maxFrame = privacy.MaxCells*8/3*4 + 1<<20

// write sends a message: its length in four bytes, and JSON.
func write(c net.Conn, m message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// maxShort is above the length of a message that is no share.
const maxShort = 1 << 20

// read waits for a message for at most so long; it has at most limit bytes.
func read(c net.Conn, wait time.Duration, limit int64) (m message, err error) {
	c.SetReadDeadline(time.Now().Add(wait))
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return m, err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > limit {
		return m, errors.New("a message is too long")
	}
	var b bytes.Buffer // which grows with what comes, not with what is announced
	if _, err := io.CopyN(&b, c, n); err != nil {
		return m, err
	}
	return m, json.Unmarshal(b.Bytes(), &m)
}

// secure is the configuration of TLS 1.3 for either end. The certificate is made of the party's key
// and says nothing else; admit is what decides about the other's key.
func secure(key ed25519.PrivateKey, admit func(ed25519.PublicKey) error) (*tls.Config, error) {
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0),
		NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAnyClientCert,
		// there is no authority and no name: the key itself is compared, below
		InsecureSkipVerify: true,
		// a resumed connection would not be asked again
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			other, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			if !ok {
				return fmt.Errorf("party: a key of another kind: %w", errEnded)
			}
			return admit(other)
		},
	}, nil
}
