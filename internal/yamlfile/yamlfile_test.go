package yamlfile

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

type inner struct {
	Steps int `yaml:"steps"`
}

type outer struct {
	Name  string    `yaml:"name"`
	Share float64   `yaml:"share"`
	Seed  uint64    `yaml:"seed"`
	Cold  bool      `yaml:"cold"`
	List  []inner   `yaml:"list"`
	One   *inner    `yaml:"one"`
	Real  []float64 `yaml:"real"`
	Free  kind      `yaml:"free"`
	None  int       // no tag: no key
}

// kind is the kind of its node.
type kind string

func (s *kind) FromYAML(_ Reader, n *yaml.Node, key string) {
	*s = kind(key + " is " + Kind(n))
}

// decoded reads a file, and lists what is wrong with it.
func decoded(text string) (out outer, problems []string) {
	Reader{Report: func(line int, text string) {
		problems = append(problems, At(line, text))
	}}.Read([]byte(text), "a test", "name: x", &out)
	return out, problems
}

func TestDecode(t *testing.T) {
	got, problems := decoded("name: 0123\nshare: 1e-3\nseed: 18446744073709551615\ncold: true\n" +
		"list: [{steps: 1}, {steps: -2}]\none: {steps: 3}\nreal: [.5, 2]\nfree: [x]\n")
	want := outer{Name: "0123", Share: 1e-3, Seed: math.MaxUint64, Cold: true,
		List: []inner{{1}, {-2}}, One: &inner{3}, Real: []float64{.5, 2}, Free: "free is a list"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outer{})); diff != "" || problems != nil {
		t.Errorf("(-want +got):\n%s%q", diff, problems)
	}
}

// TestProblems: all that is wrong is reported, with its line.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"nam: x\nshare: 010\nlist: 1\n", `line 1: unknown key "nam"; did you mean "name"?|` +
			`line 2: share must be a number, not "010": write it in decimal digits, without leading ` +
			`zeros and underscores|line 3: list must be a list, not "1"`},
		{"none: 1\n", `line 1: unknown key "none"; did you mean "one"?`},
		{"one: {step: 1}\n", `line 1: unknown key "step"; did you mean "steps"?`},
		{"list: [{steps: 1.0}]\n", `line 1: list.0.steps must be a whole number, not "1.0"`},
		{"list:\n  - {steps: 1, steps: 2}\n", `line 2: key "steps" is there twice (also in line 2)`},
		{"one: null\n", ""},
		{"one:\n", `line 1: one: want keys (steps), not an empty value`},
		{"? [a]\n: 1\n", `line 1: a key must be a text, not a list`},
		{"name: ~\n", `line 1: name has no value (~); leave the key out, or put the text in quotes`},
		{"name: \"\"\nshare: 0,5\n", `line 2: share must be a number, not "0,5": a decimal point is ` +
			`meant, 0.5`},
		{"one: {steps: 0,5}\n", `line 1: steps: 0,5 has a comma; a decimal point is meant: 0.5`},
		{"seed: -1\n", `line 1: seed must be a whole number from 0 to 18446744073709551615, not "-1"`},
		{"name: x\n--- \nname: y\n", `line 2: a second YAML document starts here; a test is one`},
		{"name: x\n--- }\n", `line 2: not YAML: did not find expected node content`},
		{"name: x\nseed: \x01\n", `line 2: not YAML: control characters are not allowed: write the ` +
			`line anew (of what is pasted, some characters cannot be seen)`},
		{"\n\nname: M\xe9decin\n", `line 3: not YAML: invalid trailing UTF-8 octet: save the file in ` +
			`UTF-8`},
	} {
		_, problems := decoded(c.text)
		if got := strings.Join(problems, "|"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestDecimal(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "10": true, "-0": true, "+7": true, "0.5": true,
		".5": true, "5.": true, "1e-9": true, "1E+3": true, "00": false, "010": false, "01.5": false,
		"1_0": false, "0x10": false, "0o7": false, "0b1": false, "": false, ".": false, "e1": false,
		"1e": false, ".inf": false, "NaN": false, "1:30": false, " 1": false, "1 ": false,
		"1\n": false, "١": false} {
		if got := Decimal(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAny(t *testing.T) {
	r := Reader{Report: func(_ int, text string) { t.Fatal(text) }}
	for text, want := range map[string]any{"7": 7, "2.0": 2.0, "1e3": 1e3, "true": true, "'7'": "7",
		"yes": "yes", "2024-01-01": "2024-01-01", "[1, .5, a]": []any{1, .5, "a"}, "''": ""} {
		root := r.Document([]byte("x: "+text), "", "")
		got, err := Any(root.Content[1])
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	for _, text := range []string{"010", "0x10", "1_0", ".nan", "-.Inf", "~", "null", "", "{a: 1}",
		"[[1]]", "[010]"} {
		root := r.Document([]byte("x: "+text), "", "")
		if got, err := Any(root.Content[1]); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
}
