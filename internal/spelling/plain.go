package spelling

import (
	"regexp"
	"strings"
)

// kinds are what ends errors for the sake of code that asks for their kind.
var kinds = regexp.MustCompile(
	`(?m): (?:invalid (?:configuration|workload)|privacy budget out of range)$`)

// secret is what looks like an address with a password in it, of whatever system.
var secret = regexp.MustCompile(`([A-Za-z][\w+.-]*:)(//[^\s/:]*:[^\n@]*|[^\s:]*:[^\s@]*)@(\S*[^\s:;,"])?`)

// Plain is the text of an error as a user should read it, without the names of kinds.
// Of what looks like an address with a password it has the scheme alone.
func Plain(err error) string {
	text := secret.ReplaceAllString(err.Error(), "$1…")
	return kinds.ReplaceAllString(text, "")
}

// Line is [Plain] in one line.
func Line(err error) string { return strings.ReplaceAll(Plain(err), "\n", "; ") }
