package spelling

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"plain", `age "x" C:\dir`, `age "x" C:\dir`},
		{"other scripts", "naïve 年齢 возраст عمر 👩‍⚕️", "naïve 年齢 возраст عمر 👩‍⚕️"},
		{"an escape sequence", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"newline, tab, return", "a\nb\tc\rd", `a\nb\tc\rd`},
		{"delete and NUL", "a\x7f\x00", `a\x7f\x00`},
		{"C1: a sequence introducer of one character", "a\u009b2J", `a\u009b2J`},
		{"line separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"right to left", "a\u202egnp.exe\u2066\u061c", `a\u202egnp.exe\u2066\u061c`},
		{"not UTF-8", "a\xff\xc3b", `a\xff\xc3b`},
		{"the replacement character itself", "a\uFFFDb", "a\uFFFDb"},
	} {
		if got := Visible(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b\xff\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if !utf8.ValidString(got) || strings.IndexFunc(got, hidden) >= 0 || Visible(got) != got {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
