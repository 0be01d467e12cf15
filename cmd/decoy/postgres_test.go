//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// postgres is a PostgreSQL server of its own in a folder, which listens on a socket in it only.
type postgres struct {
	bin, dir string
	as       *syscall.SysProcAttr // whom it runs as: it refuses to be root
}

// command is a program of PostgreSQL.
func (p postgres) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(p.bin, name)
	if _, err := os.Stat(path); err != nil {
		path = name // in PATH: the client may be a package of its own
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, p.as
	cmd.Env = append(os.Environ(), "PGHOST="+p.dir, "PGUSER=decoy", "PGDATABASE=postgres",
		"LC_ALL=C")
	return cmd
}

// startPostgres starts a server, or skips the test where none is installed.
func startPostgres(t *testing.T) postgres {
	var p postgres
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range append(places, filepath.SplitList(os.Getenv("PATH"))...) {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			p.bin = dir
		}
	}
	if p.bin == "" {
		t.Skip("no PostgreSQL is installed: initdb is neither in PATH nor in /usr/lib/postgresql")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("no client of PostgreSQL is installed: psql is not in PATH")
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "pg"); err != nil { // short, as the path of a socket must be
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 {
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user nobody")
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		p.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid),
			Gid: uint32(gid)}}
		check(t, os.Chown(p.dir, int(uid), int(gid)))
	}
	data := filepath.Join(p.dir, "data")
	out, err := p.command("initdb", "-D", data, "-U", "decoy", "-A", "trust", "-N").CombinedOutput()
	if err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := p.command("postgres", "-D", data, "-k", p.dir, "-h", "", "-c", "fsync=off")
	var log bytes.Buffer
	server.Stderr = &log
	check(t, server.Start())
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT) // stops at once, tidily
		server.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if p.command("psql", "-c", "SELECT 1").Run() == nil {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not answer:\n%s", log.String())
		}
	}
}

// TestPostgreSQL is the pipe in docs/schema.md: a query of a real server becomes a synthetic table.
func TestPostgreSQL(t *testing.T) {
	p := startPostgres(t)
	const create = `CREATE TABLE stays AS SELECT i AS id, 18 + i % 80 AS age,
		(ARRAY['female', 'male'])[1 + i % 2] AS sex, i % 9 = 0 AS died,
		CASE WHEN i % 5 > 0 THEN timestamp '2020-01-01' + i * interval '1 hour' END AS admitted
		FROM generate_series(1, 3000) i`
	if out, err := p.command("psql", "-c", create).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var csv bytes.Buffer
	export := p.command("psql", "-c", "COPY (SELECT age, sex, died, admitted FROM stays) TO STDOUT "+
		"(FORMAT csv, HEADER)")
	export.Stdout = &csv
	check(t, export.Run())
	w := workplace{t, t.TempDir()}
	w.write("s.yaml", `decoy: 1
columns:
  - {name: age, kind: integer, min: 18, max: 97, bins: 8}
  - {name: sex, kind: categorical, categories: [female, male]}
  - {name: died, kind: boolean, categories: [f, t]}
  - {name: admitted, kind: timestamp, format: "2006-01-02 15:04:05", min: 2020-01-01 00:00:00,
     max: 2020-12-31 23:59:59, bins: 12, missing: [""]}
`)
	cmd, stderr := w.start("generate - --schema s.yaml --epsilon 3 --ledger stays.ledger "+
		"--rows 500 --seed 1 --method mst --out synthetic.csv", &csv)
	if code := ended(t, cmd); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	b, err := os.ReadFile(w.path("synthetic.csv"))
	check(t, err)
	if lines := strings.Count(string(b), "\n"); lines != 501 ||
		!strings.HasPrefix(string(b), "age,sex,died,admitted\n") {
		t.Errorf("%d lines, %.60q", lines, b)
	}
	// And back: what is written is what PostgreSQL reads.
	load := p.command("psql", "-v", "ON_ERROR_STOP=1", "-At", "-c",
		"CREATE TABLE synthetic (age int, sex text, died boolean, admitted timestamp)", "-c",
		"COPY synthetic FROM STDIN (FORMAT csv, HEADER)", "-c", "SELECT count(*) FROM synthetic")
	load.Stdin = bytes.NewReader(b)
	out, err := load.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "500") {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s: 3000 rows out, 500 back", p.bin)
}
