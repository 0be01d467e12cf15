package spelling

import "regexp"

// packages are names of packages that begin the errors of these, and say nothing to a user. Those
// of what users know, such as table, schema and the methods, say what an error is about.
var packages = regexp.MustCompile(`(?m)(^|: )(?:(?:accountant|attack|bounds|calibrate|collect|` +
	`configs|critic|datasets|engine|eval|gan|infer|marginal|noise|penalty|` +
	`pld|privacy|publish|ranges|release|report|signed|synth|train|validate|workload): )+`)

// kinds are what ends errors for the sake of code that asks for their kind.
var kinds = regexp.MustCompile(
	`(?m): (?:invalid (?:configuration|workload)|privacy budget out of range)$`)

// secret is what looks like an address with a password in it, of whatever system.
var secret = regexp.MustCompile(`([A-Za-z][\w+.-]*:)(//[^\s/:]*:[^\n@]*|[^\s:]*:[^\s@]*)@(\S*[^\s:;,"])?`)

// Plain is the text of an error as a user should read it, without the names of packages and kinds.
// Of what looks like an address with a password it has the scheme alone.
func Plain(err error) string {
	text := secret.ReplaceAllString(err.Error(), "$1…")
	return kinds.ReplaceAllString(packages.ReplaceAllString(text, "$1"), "")
}
