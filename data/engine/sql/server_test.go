package sql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// postgres is a PostgreSQL of this test alone, on a socket in a temporary folder.
type postgres struct {
	dir  string
	conn *pgconn.PgConn
	pid  int
}

// startServer starts a server, as a user without rights, or says why the tests do not run.
func startServer(t *testing.T) *postgres {
	t.Helper()
	if testing.Short() {
		t.Skip("not run: -short")
	}
	program := func(name string) string {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // of Debian
		if len(found) == 0 {
			t.Skip("not run: PostgreSQL is not on this machine")
		}
		return found[len(found)-1]
	}
	dir := stattest.Must(os.MkdirTemp("", "decoy-postgres"))
	t.Cleanup(func() { os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // as which it does not run
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Skip("not run: this is root, and there is no user without rights")
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(program(name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attributes
		return cmd
	}
	initdb := command("initdb", "-D", dir+"/data", "-U", "decoy", "-A", "trust", "-E", "UTF8", "-N")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	cmd := command("postgres", "-D", dir+"/data", "-k", dir, "-c", "listen_addresses=", "-F")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &postgres{dir: dir, pid: cmd.Process.Pid}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s", log.Bytes()[max(0, log.Len()-3000):])
		}
	})
	address := "postgres://decoy@/postgres?host=" + dir
	var err error
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if s.conn, err = pgconn.Connect(context.Background(), address); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the server has not come up:\n%s", log.Bytes())
		}
	}
	t.Cleanup(func() { s.conn.Close(context.Background()) })
	return s
}

// source is the address of a table.
func (s *postgres) source(table string) string {
	return "postgres://decoy@/postgres/" + table + "?host=" + s.dir
}

func (s *postgres) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.conn.Exec(context.Background(), statement).ReadAll(); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
}

// load makes a table of the rows of a CSV file with a header, with the types that the kinds of the
// schema suggest. Missing tokens are NULL.
func (s *postgres) load(t *testing.T, table string, rows [][]string, of *schema.Schema) {
	t.Helper()
	var raw, typed []string
	for at, n := range rows[0] {
		raw = append(raw, postgreSQL.name(n)+" text")
		kind, null := "text", []string{postgreSQL.literal("\x01")}
		if i := of.Index(n); i >= 0 {
			kind = map[schema.Kind]string{schema.Integer: "bigint", schema.Real: "float8",
				schema.Date: "date", schema.Timestamp: "timestamp"}[of.Columns[i].Kind]
			for _, token := range of.Columns[i].Missing {
				null = append(null, postgreSQL.literal(token))
			}
		}
		switch {
		case kind == "":
			kind = "text"
		case kind == "bigint" && slices.ContainsFunc(rows[1:], func(row []string) bool {
			return strings.Contains(row[at], ".") // as in 5000.0
		}):
			kind = "numeric"
		}
		typed = append(typed, fmt.Sprintf("(CASE WHEN %[1]s NOT IN (%[2]s) THEN %[1]s END)::%[3]s "+
			"AS %[1]s", postgreSQL.name(n), strings.Join(null, ", "), kind))
	}
	var lines bytes.Buffer // as COPY has them
	for _, row := range rows[1:] {
		row = slices.Clone(row)
		for i, cell := range row {
			row[i] = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(cell)
		}
		lines.WriteString(strings.Join(row, "\t") + "\n")
	}
	s.exec(t, "DROP TABLE IF EXISTS raw", "CREATE TABLE raw ("+strings.Join(raw, ", ")+")")
	_, err := s.conn.CopyFrom(context.Background(), &lines, "COPY raw FROM STDIN")
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" AS SELECT "+
		strings.Join(typed, ", ")+" FROM raw")
}

// decoy runs decoy, whose exit status must be this one.
func (s *postgres) decoy(t *testing.T, dir string, status int, args string) string {
	t.Helper()
	cmd := exec.Command(dir+"/decoy", strings.Fields(args)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) ||
		cmd.ProcessState.ExitCode() != status {
		t.Fatalf("decoy %s: %v\n%s", args, err, out)
	}
	return string(out)
}
