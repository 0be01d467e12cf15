package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
)

// TestVerifyRelease: a signature does not make a release true. Each archive here is signed by the
// right key.
func TestVerifyRelease(t *testing.T) {
	t.Chdir(t.TempDir())
	public, secret, err := minisign.GenerateKey(nil)
	check(t, err)
	writeKeys(t, public, secret)
	says(t, exitOK, "fit --dataset icu-readmission --epsilon 1 --method mst --ledger l "+
		"--model m.decoy")
	says(t, exitOK, "release m.decoy --ledger l --sign a.key --rows 40 --seed 3 --out r.zip")
	const verify = "verify r.zip --key a.pub"
	says(t, exitOK, verify)
	data := stattest.Must(os.ReadFile("r.zip"))
	members := stattest.Must(release.OpenSigned(data, public))
	replaced := func(name, old, by string) []release.Member {
		t.Helper()
		out := slices.Clone(members)
		i := slices.IndexFunc(out, func(m release.Member) bool { return m.Name == name })
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
		members []release.Member
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
			check(t, release.WriteSigned(&b, c.members, secret))
			check(t, os.WriteFile("r.zip", b.Bytes(), 0o600))
			says(t, exitError, verify, c.want)
		})
	}

	// Without the key nothing can be changed: the middle byte of every member, and of its name.
	names := []string{"SHA256SUMS", "SHA256SUMS.minisig"}
	for _, m := range members {
		names = append(names, m.Name)
	}
	z := stattest.Must(zip.NewReader(bytes.NewReader(data), int64(len(data))))
	for _, f := range z.File {
		at := stattest.Must(f.DataOffset())
		for _, change := range []int64{at + int64(f.UncompressedSize64)/2, at - int64(len(f.Name))/2} {
			bad := bytes.Clone(data)
			bad[change] ^= 1
			check(t, os.WriteFile("r.zip", bad, 0o600))
			says(t, exitError, verify, "the key did not sign this")
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == f.Name })
	}
	if len(names) > 0 {
		t.Errorf("not changed: %v", names)
	}

	// A table of another version is only signed, and the result says so.
	var b bytes.Buffer
	check(t, release.WriteSigned(&b, slices.Concat(replaced("synthetic.csv", last, "")[:2],
		replaced("claim.json", thisVersion().Version, "decoy v0.0.1")[2:]), secret))
	check(t, os.WriteFile("r.zip", b.Bytes(), 0o600))
	says(t, exitOK, verify, `that it comes from the model could not be shown: "decoy v0.0.1" drew it`)
}

// TestPageOfAModel: the page says the claim and every column of a model, of each kind of method,
// and no name of a schema becomes a part of it.
func TestPageOfAModel(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.WriteFile("h.yaml", []byte("decoy: 1\ncolumns:\n"+
		"  - {name: '<script>alert(1)</script>', kind: categorical, categories: [a, '\"><img src=x>']}\n"+
		"  - {name: \"e\\u202Evil\", kind: integer, min: 0, max: 9, missing: ['']}\n"+
		"  - {name: c, kind: boolean}\n"), 0o600))
	check(t, os.WriteFile("h.csv", []byte("<script>alert(1)</script>,e\u202Evil,c\n"+
		strings.Repeat("a,3,true\na,,false\n", 300)), 0o600))
	check(t, os.WriteFile("small.yaml", []byte("decoy: 1\ncolumns:\n"+
		"  - {name: <img>, kind: boolean}\n  - {name: c, kind: boolean}\n"), 0o600))
	check(t, os.WriteFile("small.csv", []byte("<img>,c\n"+strings.Repeat("true,false\n", 9)), 0o600))
	for method, want := range map[string][]string{
		"aim":     {"(ε = 2, δ = 1e-09)", "pool of μ = ", "&lt;script&gt;alert(1)", ">missing<"},
		"mst":     {"(ε = 2, δ = 1e-09)", "2 of 3 pairs", "&lt;script&gt;alert(1)", "± "},
		"mwem":    {"(ε = 2, δ = ", "pool of μ = ", "± "},
		"smalldb": {"(ε = 2, δ = ", "keeps no noisy counts", "Laplace noise at"},
	} {
		t.Run(method, func(t *testing.T) {
			var pages []string
			table := "h"
			if method == "smalldb" { // for a few cells
				table = "small"
			}
			says(t, exitOK, fmt.Sprintf("fit %s.csv --schema %[1]s.yaml --epsilon 2 --method %s --model "+
				"%[2]s.decoy", table, method))
			for _, name := range []string{"1.html", "2.html"} {
				says(t, exitOK, "inspect "+method+".decoy --report "+method+name)
				page := stattest.Must(os.ReadFile(method + name))
				pages = append(pages, string(page))
			}
			if pages[0] != pages[1] {
				t.Error("two pages of one model differ")
			}
			for _, text := range append(want, "default-src 'none'", "What was checked", "NIST SP 800-226") {
				if !strings.Contains(pages[0], text) {
					t.Errorf("no %q", text)
				}
			}
			for _, text := range []string{"<script", "<img", "\u202E", "NaN", "Inf", "%!"} {
				if strings.Contains(pages[0], text) {
					t.Errorf("it has %q", text)
				}
			}
		})
	}
}

// TestVerifyBounded: a file that is larger than any release is not read into memory.
func TestVerifyBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	public, secret, err := minisign.GenerateKey(nil)
	check(t, err)
	writeKeys(t, public, secret)
	for _, begin := range []string{"PK\x03\x04", `{"a":`} {
		check(t, os.WriteFile("big", []byte(begin), 0o600))
		check(t, os.Truncate("big", release.MaxSigned+1))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code, _, _ := decoy("verify", "big")
		keyed, _, text := decoy("verify", "big", "--key", "a.pub")
		runtime.ReadMemStats(&after)
		if code != 1 || keyed == 0 || !strings.Contains(text, "big has more than 2147483648 bytes") {
			t.Errorf("exit codes %d and %d: %s", code, keyed, text)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 200 {
			t.Errorf("%q: %d MiB were allocated", begin, got)
		}
	}
}
