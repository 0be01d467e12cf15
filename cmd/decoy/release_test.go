package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/release/signed"
)

// TestVerifyRelease: a signature does not make a release true. Each archive here is signed by the
// right key.
func TestVerifyRelease(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(want int, args ...string) string {
		t.Helper()
		code, _, text := decoy(args...)
		if code != want {
			t.Fatalf("decoy %v: exit code %d, want %d\n%s", args, code, want, text)
		}
		return text
	}
	public, secret, err := minisign.GenerateKey(nil)
	check(t, err)
	text, err := public.MarshalText()
	check(t, err)
	check(t, os.WriteFile("k.pub", text, 0o600))
	if text, err = secret.MarshalText(); err == nil {
		err = os.WriteFile("k.key", text, 0o600)
	}
	check(t, err)
	run(0, "fit", "--dataset", "icu-readmission", "--epsilon", "1", "--method", "mst", "--model",
		"m.decoy")
	run(0, "release", "m.decoy", "--sign", "k.key", "--rows", "40", "--seed", "3", "--out", "r.zip")
	run(0, "verify", "r.zip", "--key", "k.pub")
	data, err := os.ReadFile("r.zip")
	check(t, err)
	members, err := signed.Open(data, public)
	check(t, err)
	replaced := func(name, old, by string) []signed.Member {
		t.Helper()
		out := slices.Clone(members)
		i := slices.IndexFunc(out, func(m signed.Member) bool { return m.Name == name })
		out[i].Body = bytes.Replace(out[i].Body, []byte(old), []byte(by), 1)
		if bytes.Equal(out[i].Body, members[i].Body) {
			t.Fatalf("%s has no %q", name, old)
		}
		return out
	}
	table := string(members[0].Body)
	last := table[strings.LastIndex(strings.TrimSuffix(table, "\n"), "\n")+1:]
	const differs = "synthetic.csv is signed, and is not what the model gives with seed"
	for _, c := range []struct {
		name    string
		members []signed.Member
		want    string
	}{
		{"a row too many", replaced("synthetic.csv", last, last+last), differs},
		{"a row too few", replaced("synthetic.csv", last, ""), differs},
		{"another table", replaced("synthetic.csv", table, "a,b\n1,2\n"), differs},
		{"another seed", replaced("claim.json", `"seed": 3`, `"seed": 4`), differs + " 4"},
		{"other rows", replaced("claim.json", `"rows": 40`, `"rows": 2000000000`), differs},
		{"no rows", replaced("claim.json", `"rows": 40`, `"rows": 0`),
			"claim.json: not the claim of a release"},
		{"a better claim", replaced("claim.json", `"epsilon": 1,`, `"epsilon": 0.1,`),
			"claim.json: it states (ε = 0.1"},
		{"no claim", replaced("claim.json", "{", "["), "claim.json: not the claim of a release"},
		{"a broken model", replaced("model.decoy", "PK", "XX"), "r.zip: model.decoy: "},
		{"a member less", members[1:], "r.zip: signed, and not a release: it holds model.decoy, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			check(t, signed.Write(&b, c.members, secret))
			check(t, os.WriteFile("r.zip", b.Bytes(), 0o600))
			if text := run(exitError, "verify", "r.zip", "--key", "k.pub"); !strings.Contains(text,
				c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}

	// A table of another version is only signed, and the result says so.
	var b bytes.Buffer
	check(t, signed.Write(&b, slices.Concat(replaced("synthetic.csv", last, "")[:2],
		replaced("claim.json", thisVersion().Version, "decoy v0.0.1")[2:]), secret))
	check(t, os.WriteFile("r.zip", b.Bytes(), 0o600))
	code, out, complaint := decoy("verify", "r.zip", "--key", "k.pub")
	if code != 0 || !strings.Contains(out, `that it comes from the model could not be shown: `+
		`"decoy v0.0.1" drew it`) {
		t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
	}
}
