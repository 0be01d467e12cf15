package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
)

// script is a helper that is a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "helper")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCount(t *testing.T) {
	r := Request{Source: "sc://h/t", Question: Question{Kind: "k", Of: []byte("1")}}
	for name, c := range map[string]struct {
		script, want string
		is           error
	}{
		"counts": {`echo '{"counts":[1,2,-3]}'`, "", nil},
		"it is told": {`grep -q '"version":5,"source":"sc:.*"question":{"kind":"k"' &&
			echo '{"error":"x"}'`, "x", nil},
		"an error": {`echo '{"error":"spark: no"}'; exit 1`, "spark: no", nil},
		"bad rows": {`echo '{"error":"no","data":true}'`, "no: ", schema.ErrSchema},
		"cut off":  {`echo '{"counts":[1,'`, "before it had counted", nil},
		"no JSON":  {`echo panic: secret`, "before it had counted", nil},
		"silence":  {`exit 3`, "before it had counted", nil},
		"bad end":  {`echo '{"counts":[1]}'; exit 3`, "ended with an", nil},
	} {
		counts, err := Count(context.Background(), script(t, c.script), r)
		switch {
		case c.want == "":
			if err != nil || !slices.Equal(counts, []int64{1, 2, -3}) {
				t.Errorf("%s: %v, %v", name, counts, err)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "secret") || c.is != nil && !errors.Is(err, c.is):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Count(context.Background(), "/no/such/program", r); err == nil {
		t.Error("a program that is not there has counted")
	}
}

// TestCountIsInterrupted: the program is told, and has time to stop what it began.
func TestCountIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	program := script(t, `trap 'touch '`+dir+`'/stopped; exit 1' TERM
		touch `+dir+`/begun; while :; do sleep .05; done`)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for _, err := os.Stat(dir + "/begun"); err != nil; _, err = os.Stat(dir + "/begun") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := Count(ctx, program, Request{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/stopped"); err != nil {
		t.Error("the program was not interrupted")
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if path := Program(); path != "" {
		t.Error(path)
	}
	if err := os.WriteFile(dir+"/"+Helper, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if path := Program(); path != dir+"/"+Helper {
		t.Error(path)
	}
	for source, want := range map[string]bool{"table.csv": false, "sc": false, "http://h/t": false,
		"sc://h/t": true, "postgres://h/d/t": true, "duckdb:a.db?table=t": true} {
		if Elsewhere(source) != want || Sums(source) != (source == "sc://h/t") {
			t.Error(source)
		}
	}
}

// TestCheckAddress: an address that may have a password is refused, by an error without it.
func TestCheckAddress(t *testing.T) {
	for _, good := range []string{"postgres://me@h/d/s.t", "postgres://h:5432,[::1]:5433/d/t",
		"postgresql://decoy@/postgres/t?host=/tmp/a_b", "postgres://h/d/t?sslkey=/a&sslcert=/b",
		"postgres://me@h/d/t?passfile=/home/me/.pgpass", "sc://h:15002//lake/v.parquet?tls=true",
		"sc://h/abfss://box@a.net/v?format=csv", "duckdb:a:b@c.db?table=s.t", "duckdb:/passwords/x"} {
		if err := CheckAddress(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"postgres://me:hunter2@h/d/t", "postgres://me:hun/ter2@h/d/t",
		"postgres://me:hunter2@@h/d/t", "postgres://me:12/hunter2@h/d/t", "postgres://me:hunter2/d/t",
		"postgres://me%3Ahunter2@h/d/t", "postgres://me:hunter2?@h/d/t", "postgres://me:hunter2#@h/d",
		"postgres://h/d/t?password=hunter2", "postgres://h/d/t?pass%77ord=hunter2",
		"postgres://h/d/t?SSLPassword=hunter2", "postgres://h/d/t?a=%zzhunter2",
		"sc://h:15002/;token=hunter2/t", "sc://h/s3://key:hunter2@box/v.parquet", "sc://me:hunter2@h/t",
		"duckdb:x.db?table=t&s3_secret_access_key=hunter2", "duckdb:x.db?table=t;token=hunter2",
		"postgres://me:123456789/d/t", "duckdb:x.db?table=hunter2&table=t",
		"sc://h/t?worker=/hunter2&worker=/b"} {
		if err := CheckAddress(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
