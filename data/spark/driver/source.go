// Package driver has Spark count a table, over Spark Connect: one query, whose tasks run package
// worker. What comes back is checked, and handed to whoever started the program.
package driver

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Source is a table that Spark can read.
type Source struct {
	Host    string // with the port
	TLS     bool
	User    string // for Spark Connect; default that of the environment
	Table   string // in a catalogue, its parts divided by dots; or:
	Path    string // file or folder, as the cluster sees it
	Format  string // of the path: csv, parquet, orc
	Program string // path of decoy-spark on the workers; "" is that of this program
}

// formats are what a path may be, by its extension.
var formats = map[string]string{".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".orc": "orc"}

var (
	identifier = regexp.MustCompile(`^[^\x00-\x1f./?#]+$`)
	// programs are paths that a shell takes as one word
	programs = regexp.MustCompile(`^/[A-Za-z0-9_./+-]+$`)
)

// parseSource reads sc://HOST[:PORT]/TABLE or sc://HOST[:PORT]/PATH, behind which settings may
// follow: ?format=csv&tls=true&user=NAME&worker=PATH. A path begins with a slash of its
// own or a scheme (s3://, hdfs://, file:).
func parseSource(text string) (*Source, error) {
	rest, ok := strings.CutPrefix(text, "sc://")
	if !ok {
		return nil, errors.New("a source begins with sc://")
	}
	host, rest, _ := strings.Cut(rest, "/")
	rest, query, _ := strings.Cut(rest, "?")
	if host == "" || strings.ContainsAny(host, "@;") {
		return nil, errors.New("sc://HOST:PORT/TABLE: the host is missing or has more than a name")
	}
	if !strings.Contains(host, ":") {
		host += ":15002"
	}
	set, err := url.ParseQuery(query)
	tls := set.Get("tls")
	s := &Source{Host: host, TLS: tls == "true", User: set.Get("user"), Format: set.Get("format"),
		Program: set.Get("worker")}
	for _, name := range []string{"format", "tls", "user", "worker"} {
		set.Del(name)
	}
	if err != nil || len(set) > 0 || !slices.Contains([]string{"", "true", "false"}, tls) {
		return nil, errors.New("what follows the question mark are not settings, NAME=VALUE&..., of " +
			"format, tls (true or false), user and worker")
	}
	if s.Program != "" && !programs.MatchString(s.Program) {
		return nil, errors.New("setting worker is an absolute path of letters, digits and _./+-")
	}
	if strings.Contains(rest, "/") || strings.Contains(rest, ":") {
		return s, s.setPath(rest)
	}
	s.Table = rest
	for _, part := range strings.Split(rest, ".") {
		if !identifier.MatchString(part) {
			return nil, errors.New("sc://HOST:PORT/TABLE: TABLE is a name, or names divided by dots; a " +
				"path begins with one more slash, or a scheme")
		}
	}
	if s.Format != "" {
		return nil, errors.New("setting format is for a path")
	}
	return s, nil
}

func (s *Source) setPath(text string) error {
	s.Path = text
	if s.Format == "" {
		s.Format = formats[strings.ToLower(path.Ext(strings.TrimRight(text, "/")))]
	}
	if !slices.Contains([]string{"csv", "parquet", "orc"}, s.Format) {
		return errors.New("the path does not end in .csv, .tsv, .parquet or .orc: say ?format=csv, " +
			"parquet or orc")
	}
	if strings.ContainsAny(text, "\x00\n\r") {
		return errors.New("the path has a control character")
	}
	return nil
}
