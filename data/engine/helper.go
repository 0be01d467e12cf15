package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
)

// The helper is a program of its own by which decoy has a table counted in Spark, a module with the
// libraries that it needs. It is given a [Request] on its standard input, and writes
// a [Reply]. The counts that it sends are exact. They go through a pipe into the memory of the
// gate, and nowhere else.

// version is that of the two programs' talk: both must be of one.
const version = 5

// Verb is what a helper is called with.
const Verb = "count"

// Request asks a question. All of it is public.
type Request struct {
	Version int    `json:"version"`
	Source  string `json:"source"` // sc://...
	Schema  string `json:"schema"` // YAML
	// of the run: of a unit with too many rows, the same stay whenever it is asked about. Default: one
	// is drawn
	Nonce []byte `json:"nonce,omitempty"`
	// what is asked of the rows
	Question Question `json:"question"`
	// find out only whether it could be asked: the connection, the table and its columns. No row is
	// counted, and there are no counts in the reply
	Check bool `json:"check,omitempty"`
}

// Reply is the answer, which is the number of rows and the sums, or an error.
type Reply struct {
	Counts []int64 `json:"counts,omitempty"`
	Error  string  `json:"error,omitempty"`
	Data   bool    `json:"data,omitempty"` // the error is that the rows break the schema
}

// schemes are how a source begins that is a table in another system.
var schemes = []string{spark, "postgres://", "postgresql://", "duckdb:"}

const spark = "sc://"

// Elsewhere reports whether a source is a table in another system, and not a file.
func Elsewhere(source string) bool {
	source = strings.ToLower(strings.TrimSpace(source)) // CheckAddress refuses others than these
	is := func(scheme string) bool { return strings.HasPrefix(source, scheme) }
	return slices.ContainsFunc(schemes, is)
}

var (
	// hosts are those of an address, with their ports, behind the name of a user; an @ may only come
	// later if it has no password before it either
	hosts = regexp.MustCompile(`^[a-z]+://([^:@/?#]*@)?` + host + `(,` + host + `)*` +
		`([/?#]([^@]|://[^:@/?#]*@)*)?$`)
	secrets = regexp.MustCompile(`(?i)(password|passwd|pwd|secret|token)\w*\s*=`)
)

const host = `(\[[0-9a-fA-F:.]*\]|[^][:@/?#,]*)(:[0-9]{1,5})?`

// CheckAddress says what is wrong with the form of an address, whatever its system. Its error does
// not repeat the address, which may have a password in any place.
func CheckAddress(source string) error {
	plain, err := url.PathUnescape(source)
	_, query, _ := strings.Cut(source, "?")
	settings, bad := url.ParseQuery(query)
	file := strings.HasPrefix(source, "duckdb:")
	if err != nil || bad != nil || secrets.MatchString(plain) || !file && !hosts.MatchString(plain) {
		return errors.New("this is no address such as postgres://USER@HOST/DATABASE/TABLE, or everyone " +
			"on this machine can see a password in it: give PGPASSWORD, or ~/.pgpass: decoy help scale")
	}
	for _, values := range settings {
		if len(values) > 1 {
			return errors.New("an address says one thing twice: decoy help scale")
		}
	}
	return nil
}

// Sums reports whether the system of a source answers questions of every kind, and not of [Sets]
// and [Units] alone: Spark does, by its helper.
func Sums(source string) bool { return strings.HasPrefix(source, spark) }

// Helper is the program that has a table counted in Spark.
const Helper = "decoy-spark"

// Program is the path of the helper, "" if it is not there. It is looked for beside this program,
// then on the PATH.
func Program() string {
	self, _ := os.Executable()
	for _, name := range []string{filepath.Join(filepath.Dir(self), Helper), Helper} {
		if path, err := exec.LookPath(name); err == nil { // which on Windows adds .exe
			return path
		}
	}
	return ""
}

// patience is how long a program that was interrupted may take to stop what it began.
const patience = 20 * time.Second

// Count has the program count. If ctx ends it is told to end, and stops the work of the engine.
func Count(ctx context.Context, program string, r Request) ([]int64, error) {
	r.Version = version
	request, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, Verb)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.Stdin = strings.NewReader(string(request))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	var said Reply
	if err = json.NewDecoder(out).Decode(&said); err != nil && ctx.Err() == nil {
		cmd.Process.Kill() // it has nothing more to say
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errors.New("the helper ended before it had counted")
	case said.Error != "" && said.Data:
		return nil, fmt.Errorf("%s: %w", said.Error, schema.ErrSchema)
	case said.Error != "":
		return nil, errors.New(said.Error)
	case ended != nil:
		return nil, fmt.Errorf("%s ended with an error", filepath.Base(program))
	}
	return said.Counts, nil
}
