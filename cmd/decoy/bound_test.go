package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// part is a key of a file of JSON with its value, in the order of the file.
type part struct {
	key   string
	value json.RawMessage
}

// file is a file that a run delivered, as its parts.
type file struct {
	manifest   []part
	parameters []byte // of a model
}

func readParts(t *testing.T, path string) (f file) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	if z, err := zip.NewReader(bytes.NewReader(text), int64(len(text))); err == nil {
		text, f.parameters = member(t, z, "manifest.json"), member(t, z, "parameters.bin")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	_, err = d.Token()
	for check(t, err); d.More(); {
		key := stattest.Must(d.Token())
		p := part{key: key.(string)}
		check(t, d.Decode(&p.value))
		f.manifest = append(f.manifest, p)
	}
	return f
}

func member(t *testing.T, z *zip.Reader, name string) []byte {
	t.Helper()
	r := stattest.Must(z.Open(name))
	b := stattest.Must(io.ReadAll(r))
	return b
}

// bytes is the file as its writer would have it.
func (f file) bytes(t *testing.T) []byte {
	t.Helper()
	var flat, out bytes.Buffer
	for i, p := range f.manifest {
		fmt.Fprintf(&flat, "%c%q:%s", "{,"[min(i, 1)], p.key, p.value)
	}
	flat.WriteString("}")
	check(t, json.Indent(&out, flat.Bytes(), "", "  "))
	out.WriteString("\n")
	if f.parameters == nil {
		return out.Bytes()
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, m := range []release.Member{{Name: "manifest.json", Body: out.Bytes()},
		{Name: "parameters.bin", Body: f.parameters}} {
		w := stattest.Must(z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Store}))
		stattest.Must(w.Write(m.Body))
	}
	check(t, z.Close())
	return packed.Bytes()
}

// with has other values for some keys.
func (f file) with(from file, keys ...string) file {
	f.manifest = slices.Clone(f.manifest)
	for _, p := range from.manifest {
		at := slices.IndexFunc(f.manifest, func(q part) bool { return q.key == p.key })
		if at >= 0 && slices.Contains(keys, p.key) {
			f.manifest[at] = p
		}
		if p.key == "parameters" && slices.Contains(keys, p.key) && from.parameters != nil {
			f.parameters = from.parameters
		}
	}
	return f
}

// sealed has a closing line with the hash of what the file now holds: what somebody does who knows
// the format, and has no signature to fear.
func (f file) sealed(t *testing.T) file {
	t.Helper()
	all := map[string]json.RawMessage{}
	for _, p := range f.manifest {
		all[p.key] = p.value
	}
	var es []ledger.Entry
	check(t, json.Unmarshal(all["ledger"], &es))
	outputs := stattest.Must(ledger.HashOutputs(all, es[:max(0, len(es)-1)]))
	if es == nil { // a joint model
		return f.with(file{manifest: []part{{"outputs", fmt.Appendf(nil, "%q", outputs)}}}, "outputs")
	}
	last := es[len(es)-1]
	last.Outputs = outputs
	es[len(es)-1] = last.Seal(es[len(es)-2])
	text := stattest.Must(json.Marshal(es))
	return f.with(file{manifest: []part{{"ledger", text}}}, "ledger")
}

// scalars are the places of all texts, numbers and truth values of JSON, keys among them.
func scalars(t *testing.T, text []byte) (places [][2]int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for before := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			return places
		}
		check(t, err)
		end := int(d.InputOffset())
		if _, delimiter := token.(json.Delim); !delimiter {
			from := before + strings.IndexFunc(string(text[before:end]), func(r rune) bool {
				return !strings.ContainsRune(" \n\t,:", r)
			})
			places = append(places, [2]int{from, end})
		}
		before = end
	}
}

// changed is another value of the same type.
func changed(scalar string) string {
	switch {
	case scalar == "true":
		return "false"
	case scalar == "false":
		return "true"
	case scalar == "null":
		return "[]"
	case scalar == `""`:
		return `"x"`
	case scalar[0] == '"': // another last character
		last := "0"
		if scalar[len(scalar)-2] == '0' {
			last = "1"
		}
		if strings.HasSuffix(scalar, `\n"`) {
			return scalar[:len(scalar)-3] + ` #x\n"`
		}
		return scalar[:len(scalar)-2] + last + `"`
	}
	for i, c := range scalar { // another first digit
		if c >= '1' && c <= '8' {
			return scalar[:i] + string(c+1) + scalar[i+1:]
		}
	}
	return "1"
}

// made is what the tests share that need delivered files.
var made struct {
	sync.Once
	files fs.FS
	kinds map[string][]string
}

// delivered are files of every kind, each of two budgets, by kind, in a folder of this test, which
// is the current one.
func delivered(t *testing.T) (dir string, kinds map[string][]string) {
	t.Helper()
	made.Do(func() {
		dir, kinds := deliver(t)
		files := fstest.MapFS{}
		names := stattest.Must(filepath.Glob(filepath.Join(dir, "*")))
		for _, name := range names {
			text := stattest.Must(os.ReadFile(name))
			files[filepath.Base(name)] = &fstest.MapFile{Data: text, Mode: 0o600}
		}
		made.files, made.kinds = files, kinds
	})
	if made.files == nil {
		t.Fatal("the files could not be made")
	}
	dir = t.TempDir()
	t.Chdir(dir)
	check(t, os.CopyFS(dir, made.files))
	return dir, made.kinds
}

func deliver(t *testing.T) (dir string, kinds map[string][]string) {
	t.Helper()
	dir, kinds = t.TempDir(), map[string][]string{}
	t.Chdir(dir)
	do := func(line string) string { t.Helper(); return says(t, exitOK, line) }
	rows := "age,sex,smoker\n"
	for i := range 300 {
		rows += fmt.Sprintf("%d,%c,%s\n", 20+i*7%60, "mf"[i%2], []string{"no", "yes"}[i*i%3%2])
	}
	check(t, os.WriteFile("in.csv", []byte(rows), 0o600))
	check(t, os.WriteFile("s.yaml", []byte(`decoy: 1
columns:
  - {name: age, kind: integer, min: 20, max: 80, bins: 4}
  - {name: sex, kind: categorical, categories: [m, f]}
  - {name: smoker, kind: categorical, categories: ["no", "yes"]}
`), 0o600))
	check(t, os.WriteFile("people.csv", []byte(linkedUnits(200)), 0o600))
	check(t, os.WriteFile("events.csv", []byte(linkedEvents(200)), 0o600))
	check(t, os.WriteFile("linked.yaml", []byte(linkedSchema), 0o600))
	for i, epsilon := range []string{"0.1", "1000"} {
		run := " --schema s.yaml --quiet --epsilon " + epsilon
		add := func(kind, name, line string) {
			name = fmt.Sprintf(name, i)
			do(fmt.Sprintf(line, name))
			kinds[kind] = append(kinds[kind], name)
		}
		add("mst", "mst%d.decoy", "fit in.csv --method mst --model %s"+run)
		add("aim", "aim%d.decoy", "fit in.csv --method aim --model %s"+run)
		add("linked", "linked%d.decoy", "fit people.csv events.csv --schema linked.yaml --quiet "+
			"--model %s --epsilon "+epsilon)
		add("mwem", "mwem%d.decoy", "fit in.csv --method mwem --model %s"+run)
		add("bayes", "bayes%d.decoy", "fit in.csv --method bayes --model %s"+run)
		do(fmt.Sprintf("fit in.csv --method mst --ledger b --model b%d.decoy", i) + run)
		add("joint", "joint%d.decoy", fmt.Sprintf("join mst%d.decoy b%d.decoy --quiet "+
			"--people may-overlap --out", i, i)+" %s")
		add("classifier", "c%d.json", "train in.csv --target smoker --out %s"+run)
		do(fmt.Sprintf("sample mst%d.decoy --rows 40 --seed 1 --out syn.csv --force --quiet", i))
		add("evaluation", "p%d.json", "evaluate --holdout in.csv --synthetic syn.csv --target smoker "+
			"--json %s"+run)
		v := do("validate in.csv --statistic mean:age --json" + run)
		name := fmt.Sprintf("v%d.json", i)
		check(t, os.WriteFile(name, []byte(v), 0o600))
		kinds["statistic"] = append(kinds["statistic"], name)
	}
	return dir, kinds
}

// linkedSchema describes people and their events.
const linkedSchema = `decoy: 1
unit: id
tables:
  - name: people
    columns:
      - {name: sex, kind: categorical, categories: [m, f]}
  - name: events
    parent: people
    key: id
    order: {by: day, rows: 4}
    columns:
      - {name: day, kind: integer, min: 0, max: 99, bins: 5}
      - {name: kind, kind: categorical, categories: [a, b]}
`

func linkedUnits(n int) string {
	text := "id,sex\n"
	for i := range n {
		text += fmt.Sprintf("p%d,%c\n", i, "mf"[i%2])
	}
	return text
}

func linkedEvents(n int) string {
	text := "id,day,kind\n"
	for i := range 2 * n {
		text += fmt.Sprintf("p%d,%d,%c\n", i*i%n, i*37%100, "ab"[i%3%2])
	}
	return text
}

// accepts reports whether verify says ok of a file; of a model so changed that it cannot be opened
// it does not.
func accepts(t *testing.T, f file) bool {
	t.Helper()
	path := "changed-" + filepath.Base(t.Name()) // beside the files, which are of this test
	check(t, os.WriteFile(path, f.bytes(t), 0o600))
	_, err := verify(path)
	return err == nil
}

// TestOutputsAreBound: of files of every kind that a run delivers, every leaf and every name of a
// key is changed by itself, and every pair of files of one kind is spliced, key by key and in
// groups. verify accepts none. Without -long it is one leaf of 241.
func TestOutputsAreBound(t *testing.T) {
	_, kinds := delivered(t)
	for kind, names := range kinds {
		a, b := readParts(t, names[0]), readParts(t, names[1])
		every := 241
		if *long {
			every = 1
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			bound(t, a, b, every)
		})
	}
}

// bound changes one leaf of every so many of a, and splices a and b, two files of a kind.
func bound(t *testing.T, a, b file, every int) {
	for _, f := range []file{a, b} {
		if !accepts(t, f) {
			t.Fatal("a file that nobody changed is refused")
		}
	}
	refused := func(f file, format string, args ...any) {
		t.Helper()
		if accepts(t, f) {
			t.Errorf(format+", and accepted", args...)
		}
	}
	n := 0
	for i, p := range a.manifest {
		for _, at := range scalars(t, p.value) {
			if n++; n%every != 0 && p.key != "settings" {
				continue
			}
			f, leaf := a, string(p.value[at[0]:at[1]])
			f.manifest = slices.Clone(a.manifest)
			f.manifest[i].value = slices.Concat(p.value[:at[0]], []byte(changed(leaf)), p.value[at[1]:])
			refused(f, "%s is changed at %d (%s)", p.key, at[0], leaf)
		}
		twice := a
		twice.manifest = slices.Insert(slices.Clone(a.manifest), i, b.manifest[i])
		refused(twice, "%s is there twice", p.key)
		if p.key == "ledger" && string(p.value) != "null" {
			for what, text := range otherCharges(t, p.value, every) {
				refused(a.with(file{manifest: []part{{"ledger", text}}}, "ledger"),
					"a chain is sealed anew, %s", what)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d leaves", n)
	}
	for i, keys := range splices(a) {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		f := from.with(to, keys...)
		if text := f.bytes(t); !bytes.Equal(text, a.bytes(t)) && !bytes.Equal(text, b.bytes(t)) {
			refused(f, "%v are of another file", keys)
		}
	}
	for at := 0; at < len(a.parameters); at += 1 + every*len(a.parameters)/200 {
		f := a
		f.parameters = slices.Clone(a.parameters)
		f.parameters[at] ^= 1
		of := fmt.Sprintf("%x", sha256.Sum256(a.parameters))
		i := slices.IndexFunc(a.manifest, func(p part) bool { return p.key == "parameters" })
		f.manifest = slices.Clone(a.manifest)
		f.manifest[i].value = bytes.Replace(a.manifest[i].value, []byte(of),
			fmt.Appendf(nil, "%x", sha256.Sum256(f.parameters)), 1)
		refused(f, "byte %d of the parameters is changed", at)
	}
}

// otherCharges are ledgers without one of the charges of a run, or with two that have changed
// places, whose chain is right: of every so many, and of some.
func otherCharges(t *testing.T, text []byte, every int) map[string][]byte {
	t.Helper()
	var es []ledger.Entry
	check(t, json.Unmarshal(text, &es))
	out := map[string][]byte{}
	chained := func(what string, es []ledger.Entry) {
		before := ledger.Entry{}
		for i := range es {
			es[i] = es[i].Seal(before)
			before = es[i]
		}
		b := stattest.Must(json.Marshal(es))
		out[what] = b
	}
	for i := 2; i < len(es)-1; i += min(every, 1+len(es)/8) {
		chained(fmt.Sprintf("without line %d", i), slices.Delete(slices.Clone(es), i, i+1))
		if i > 2 {
			swapped := slices.Clone(es)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			chained(fmt.Sprintf("with line %d before %d", i, i-1), swapped)
		}
	}
	return out
}

// TestNothingBesideTheRun: a hash beside a ledger is refused. Of contents of another run, 'ledger
// verify' does not say that the ledger has their run, and neither inspect nor sample repeats the
// guarantee that was put around them.
func TestNothingBesideTheRun(t *testing.T) {
	_, kinds := delivered(t)
	for kind, names := range kinds {
		f := readParts(t, names[0])
		at := slices.IndexFunc(f.manifest, func(p part) bool { return p.key == "ledger" })
		if kind == "joint" {
			continue // it has the hash in place of a ledger
		}
		beside := f
		beside.manifest = slices.Insert(slices.Clone(f.manifest), at+1, part{"outputs",
			json.RawMessage(`"x"`)})
		if accepts(t, beside) {
			t.Errorf("%s: a hash beside the ledger is accepted", kind)
		}
		other := readParts(t, names[1])
		spliced := other.with(f, "claim", "budget", "run", "ledger")
		check(t, os.WriteFile("spliced", spliced.bytes(t), 0o600))
		for name, want := range map[string]int{names[0]: exitOK, "spliced": exitError} {
			account, out := "in.csv.ledger", " --out rows.csv"
			if kind == "linked" {
				account, out = "people.csv.ledger", " --out-dir rows"
			}
			lines := []string{"ledger verify " + account + " " + name}
			if f.parameters != nil {
				lines = append(lines, "inspect "+name, "sample "+name+" --rows 9 --force"+out)
			}
			for _, line := range lines {
				says(t, want, line)
			}
		}
	}
	// a chain that is sealed anew, without the hashes
	m := stattest.Must(release.Open(kinds["mst"][0]))
	before := ledger.Entry{}
	for i, e := range m.Ledger {
		e.Answer, e.Outputs = "", ""
		before = e.Seal(before)
		m.Ledger[i] = before
	}
	var bare bytes.Buffer
	check(t, m.Write(&bare))
	check(t, os.WriteFile("bare.decoy", bare.Bytes(), 0o600))
	says(t, exitError, "verify bare.decoy", "no hash of what it delivered")
}

// splices are the keys that come from another file.
func splices(f file) (out [][]string) {
	var all []string
	for _, p := range f.manifest {
		out, all = append(out, []string{p.key}), append(all, p.key)
	}
	bound := []string{"claim", "ledger", "budget", "tool", "created", "method", "run", "parties",
		"outputs"}
	for i := range bound {
		out = append(out, bound[:i+1])
	}
	for _, key := range all { // all but one
		out = append(out, slices.DeleteFunc(slices.Clone(all), func(k string) bool { return k == key }))
	}
	return out
}

// TestSpliceOfEveryVerb: claim and ledger of a model of a small budget around the body of one of a
// large budget pass none of the verbs that vouch for a model, and neither do they with a closing
// line that was sealed anew: the noise of what is kept is not what was paid for.
func TestSpliceOfEveryVerb(t *testing.T) {
	dir, kinds := delivered(t)
	public, key, err := minisign.GenerateKey(nil)
	check(t, err)
	writeKeys(t, public, key)
	says(t, exitOK, "release mst0.decoy --sign a.key --out a.zip --ledger in.csv.ledger")
	archive := stattest.Must(os.ReadFile("a.zip"))
	members := stattest.Must(release.OpenSigned(archive, public))
	a, b := readParts(t, kinds["mst"][0]), readParts(t, kinds["mst"][1])
	plain := b.with(a, "claim", "ledger", "created")
	for _, f := range []file{plain, plain.sealed(t)} {
		text := f.bytes(t)
		check(t, os.WriteFile("spliced.decoy", text, 0o600))
		for i, m := range members {
			if m.Name == releasedModel {
				members[i].Body = text
			}
		}
		var packed bytes.Buffer
		check(t, release.WriteSigned(&packed, members, key))
		check(t, os.WriteFile("spliced.zip", packed.Bytes(), 0o600))
		for _, line := range []string{"verify spliced.decoy",
			"inspect spliced.decoy --report page.html", "verify spliced.zip --key a.pub",
			"release spliced.decoy --sign a.key --out spliced2.zip --ledger in.csv.ledger"} {
			says(t, exitError, line)
		}
	}
	for _, name := range []string{"page.html", "spliced2.zip"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was written", name)
		}
	}
}

// TestForgedNoise: claim and ledger of a model of a small budget around the body of one of a large
// budget, with a closing line that somebody sealed anew: the hash is right, and the noise of what
// is kept is not what was paid for. The same where σ is raised to what was paid, and where the
// charges say the answers that are kept.
func TestForgedNoise(t *testing.T) {
	_, kinds := delivered(t)
	unpaid := func(what string, f file) {
		t.Helper()
		check(t, os.WriteFile("forged", f.sealed(t).bytes(t), 0o600))
		if _, err := verify("forged"); err == nil || !strings.Contains(err.Error(),
			"is not one that the ledger paid for") {
			t.Errorf("%s: %v", what, err)
		}
	}
	a, b := readParts(t, kinds["joint"][0]), readParts(t, kinds["joint"][1])
	check(t, os.WriteFile("forged", b.with(a, "claim", "parties").sealed(t).bytes(t), 0o600))
	if _, err := verify("forged"); err == nil || !strings.Contains(err.Error(),
		"does not match its checksum") {
		t.Errorf("joint: %v", err)
	}
	for _, kind := range []string{"mst", "aim", "mwem"} {
		a, b := readParts(t, kinds[kind][0]), readParts(t, kinds[kind][1])
		unpaid(kind, b.with(a, "claim", "ledger"))
		genuine := stattest.Must(release.Open(kinds[kind][0]))
		forged := stattest.Must(release.Open(kinds[kind][1]))
		p := forged.Params().(*release.Marginal)
		text, err := json.Marshal(answering(t, genuine.Ledger, p.Measured, forged.Schema().Sizes()))
		check(t, err)
		unpaid(kind+", with its own answers",
			b.with(a, "claim").with(file{manifest: []part{{"ledger", text}}}, "ledger"))
		paid := genuine.Params().(*release.Marginal).Measured
		for i := range p.Measured {
			p.Measured[i].Sigma = paid[min(i, len(paid)-1)].Sigma
		}
		b.parameters = stattest.Must(p.MarshalBinary())
		text = fmt.Appendf(nil, `{"kind":%q,"bytes":%d,"sha256":"%x"}`, p.Kind(), len(b.parameters),
			sha256.Sum256(b.parameters))
		b = b.with(file{manifest: []part{{"parameters", text}}}, "parameters")
		unpaid(kind+", with another σ", b.with(a, "claim", "ledger"))
	}
}

// TestReleasesTellOfLostSpending: under a signed limit, a ledger whose chain was sealed anew after
// a run was dropped, a charge removed or the end cut off is told by any release that knows of what
// is gone, and none of that stands in the way of a ledger that goes on.
func TestReleasesTellOfLostSpending(t *testing.T) {
	t.Chdir(t.TempDir())
	public, key, err := minisign.GenerateKey(nil)
	check(t, err)
	writeKeys(t, public, key)
	do := func(want int, line string) { t.Helper(); says(t, want, line) }
	do(exitOK, "ledger limit l --unit row --epsilon 9 --delta 1e-6 --sign a.key")
	fit := "fit --dataset icu-readmission --method mst --ledger l --quiet --epsilon 1 --model "
	do(exitOK, fit+"one")
	do(exitOK, "release one --ledger l --sign a.key --rows 10 --out one.zip")
	do(exitOK, fit+"two")
	do(exitOK, "release two --ledger l --sign a.key --rows 10 --out two.zip")
	do(exitOK, fit+"three")
	const all = " one two three one.zip two.zip --key a.pub"
	do(exitOK, "ledger verify l"+all)
	text := stattest.Must(os.ReadFile("l"))
	whole := stattest.Must(ledger.Parse(bytes.NewReader(text)))
	runs := whole.Runs()
	last := len(whole.Entries) - 1
	charge := slices.IndexFunc(whole.Entries, func(e ledger.Entry) bool {
		return e.Kind == ledger.EntryCharge && e.Run == runs[1].Run
	})
	for name, tt := range map[string]struct {
		gone func(i int, e ledger.Entry) bool
		by   []string // the files that tell of it
	}{
		"a run is dropped": {func(_ int, e ledger.Entry) bool { return e.Run == runs[1].Run },
			[]string{"two", "two.zip"}},
		"the end is cut off": {func(i int, e ledger.Entry) bool { return e.Run == runs[2].Run },
			[]string{"three"}},
		"its last line is cut off": {func(i int, e ledger.Entry) bool { return i == last },
			[]string{"three"}},
		"a charge is removed": {func(i int, e ledger.Entry) bool { return i == charge },
			[]string{"two", "two.zip"}},
		"all runs are dropped": {func(_ int, e ledger.Entry) bool { return e.Run != "" },
			[]string{"one", "two", "three", "one.zip", "two.zip"}},
	} {
		var out bytes.Buffer
		before := ledger.Entry{}
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		for i, e := range whole.Entries {
			if !tt.gone(i, e) {
				before = e.Seal(before)
				check(t, enc.Encode(before))
			}
		}
		check(t, os.WriteFile("cut", out.Bytes(), 0o600))
		do(exitOK, "ledger verify cut --key a.pub") // the signature is of what came before
		do(exitError, "ledger verify cut"+all)
		for _, file := range []string{"one", "two", "three", "one.zip", "two.zip"} {
			want := exitOK
			if slices.Contains(tt.by, file) {
				want = exitError
			}
			t.Log(name, file)
			do(want, "ledger verify cut "+file+" --key a.pub")
		}
		if slices.Contains(tt.by, "two") {
			do(exitError, "release two --ledger cut --sign a.key --rows 10 --out no.zip")
		}
	}
	do(exitUsage, "release one --sign a.key --rows 10 --out no.zip")
	do(exitUsage, "ledger verify l one.zip")
}

// writeKeys writes a.pub and a.key.
func writeKeys(t *testing.T, public minisign.PublicKey, key minisign.PrivateKey) {
	t.Helper()
	text := stattest.Must(public.MarshalText())
	check(t, os.WriteFile("a.pub", text, 0o600))
	text = stattest.Must(key.MarshalText())
	check(t, os.WriteFile("a.key", text, 0o600))
}

// answering is a ledger whose charges of Gaussian noise say that they answered with measurements.
func answering(
	t *testing.T, es ledger.Excerpt, ms []marginal.Measurement, sizes []int,
) ledger.Excerpt {
	t.Helper()
	es = slices.Clone(es)
	for i, e := range es {
		if e.Kind == ledger.EntryCharge {
			if _, ok := e.Event.Event.(accountant.Gaussian); ok && e.Event.Count <= len(ms) {
				var queries []privacy.Query
				var counts [][]int64
				for _, m := range ms[:e.Event.Count] {
					queries = append(queries, privacy.Marginal{Cols: m.Cols, Groups: m.Groups})
					cells := make([]int64, len(m.Counts))
					for k, x := range m.Counts {
						cells[k] = int64(x)
					}
					counts = append(counts, cells)
				}
				e.Answer = stattest.Must(privacy.HashMeasured("", sizes, queries, ms[0].Sigma, counts))
				ms = ms[e.Event.Count:]
			}
		}
		before := ledger.Entry{}
		if i > 0 {
			before = es[i-1]
		}
		es[i] = e.Seal(before)
	}
	return es
}
