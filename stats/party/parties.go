// Package party fits one model to the rows of several parties that may not pool them: what they
// count is added up under masks, each with a share of the noise (package privacy/shares), over
// connections with keys that the parties have exchanged by hand. One of them adds up. It learns the
// sums, as all do, and no party's counts.
package party

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

var (
	// ErrFile is wrapped by every error about a file of parties or a key.
	ErrFile = errors.New("parties cannot meet like this")
	// errEnded is wrapped where a run of several parties came to no end: it has no sum, and nothing of
	// it can be used again.
	errEnded = errors.New("the run of the parties is over, without a result; another one starts " +
		"from nothing")
)

// Parties are those that take part, in the file that all of them have. The first one adds up.
type Parties struct {
	Address   string   `yaml:"address"`    // host:port of the first party
	Colluding int      `yaml:"colluding"`  // so many may tell others what they know; default 1
	PerPerson int      `yaml:"per_person"` // so many may have rows of one unit; default 1
	Parties   []member `yaml:"parties"`
}

// member is a party.
type member struct {
	Name string `yaml:"name"`
	Key  string `yaml:"key"` // public, as [Public] prints it
}

// Parse reads the file of parties. Errors wrap ErrFile.
func Parse(data []byte) (*Parties, error) {
	fail := func(format string, args ...any) (*Parties, error) {
		return nil, fmt.Errorf("party: "+format+": %w", append(args, ErrFile)...)
	}
	p := &Parties{Colluding: 1, PerPerson: 1}
	var wrong []string
	yamlfile.Reader{Report: func(line int, text string) {
		wrong = append(wrong, yamlfile.At(line, text))
	}}.Read(data, "a file of parties", "address: example.org:17000", p)
	if wrong != nil {
		return fail("%s", wrong[0])
	}
	if _, port, err := net.SplitHostPort(p.Address); err != nil || port == "" {
		return fail("address %q: want host:port of the first party, which adds up", p.Address)
	}
	n := len(p.Parties)
	names, keys := map[string]bool{}, map[string]bool{}
	for _, m := range p.Parties {
		// one spelling of each key, so that no two are the same
		if key, err := base64.StdEncoding.DecodeString(m.Key); err != nil ||
			len(key) != ed25519.PublicKeySize || base64.StdEncoding.EncodeToString(key) != m.Key {
			return fail("the key of %q is none (decoy party keygen prints one)", m.Name)
		}
		if m.Name == "" || names[m.Name] || keys[m.Key] {
			return fail("party %q: each has a name and a key of its own", m.Name)
		}
		names[m.Name], keys[m.Key] = true, true
	}
	switch {
	case n < 2 || n > 1000:
		return fail("%d parties, want 2 to 1000", n)
	case p.Colluding < 1 || p.Colluding >= n:
		return fail("colluding: %d, want 1 to %d: each party knows its own noise", p.Colluding, n-1)
	case p.PerPerson < 1 || p.PerPerson > n:
		return fail("per_person: %d, want 1 to %d", p.PerPerson, n)
	}
	return p, nil
}

func (p *Parties) identities() (out []ed25519.PublicKey) {
	for _, m := range p.Parties {
		key, _ := base64.StdEncoding.DecodeString(m.Key) // Parse has
		out = append(out, key)
	}
	return out
}

// find is the number of the party with a key, or −1.
func (p *Parties) find(key ed25519.PublicKey) int {
	for i, id := range p.identities() {
		if id.Equal(key) {
			return i
		}
	}
	return -1
}

const pemType = "PRIVATE KEY"

// NewKey makes a party's secret key, as PKCS #8 in PEM.
func NewKey() ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), err
}

// ParseKey reads what NewKey wrote. Errors wrap ErrFile.
func ParseKey(data []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(data)
	if block != nil && block.Type == pemType && len(bytes.TrimSpace(rest)) == 0 {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := key.(ed25519.PrivateKey); ok {
				return key, nil
			}
		}
	}
	return nil, fmt.Errorf("party: no secret key of decoy party keygen: %w", ErrFile)
}

// Public is the public half of a key, for the file of parties.
func Public(key ed25519.PrivateKey) string {
	return base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
}
