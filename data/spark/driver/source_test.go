package driver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/spark/worker"
)

func TestParseSource(t *testing.T) {
	for text, want := range map[string]Source{
		"sc://h/lake.visits":   {Host: "h:15002", Table: "lake.visits"},
		"sc://h:1/t?tls=true":  {Host: "h:1", Table: "t", TLS: true},
		"sc://h//a/b.parquet":  {Host: "h:15002", Path: "/a/b.parquet", Format: "parquet"},
		"sc://h//a/b.tsv":      {Host: "h:15002", Path: "/a/b.tsv", Format: "csv"},
		"sc://h/s3://b/c.csv/": {Host: "h:15002", Path: "s3://b/c.csv/", Format: "csv"},
		"sc://h//a?format=csv&worker=/o/d&user=me": {Host: "h:15002", Path: "/a",
			Format: "csv", Program: "/o/d", User: "me"},
	} {
		got, err := parseSource(text)
		if err != nil || *got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"h/t", "sc:///t", "sc://h", "sc://h/", "sc://h/a..b", "sc://u@h/t", "sc://h;token=x/t",
		"sc://h//a.txt", "sc://h//a?format=xml", "sc://h/t?format=csv", "sc://h//a.csv?lines=true",
		"sc://h/t?tls=yes", "sc://h/t?what=1", "sc://h/t?worker=a",
		"sc://h/t?worker=/a;rm", "sc://h//a%0a.csv?%zz", "sc://h//a\n.csv",
	} {
		if s, err := parseSource(text); err == nil {
			t.Errorf("%q is %+v", text, s)
		}
	}
}

// TestNamesAreQuoted: nothing of a name or a path ends what it stands in.
func TestNamesAreQuoted(t *testing.T) {
	s := &Source{Path: `/a'b\c.csv`, Format: "csv"}
	if q := s.viewOf(schema.CSV{}); !strings.Contains(q, `path '/a\'b\\c.csv'`) {
		t.Error(q)
	}
	s = &Source{Table: "a`b.c"}
	if q := s.viewOf(schema.CSV{}); !strings.Contains(q, "FROM `a``b`.`c`") {
		t.Error(q)
	}
	cell, as := cellOf("a`b", "varchar(10)", false)
	if as != worker.Text || !strings.Contains(cell, "`a``b`") {
		t.Error(cell)
	}
	if _, as := cellOf("a", "array<int>", false); as != "" {
		t.Error("a list is read")
	}
	q := counting("SELECT line FROM t", "exec /a 'b'", "plan")
	if !strings.Contains(q, `USING 'exec /a \'b\''`) ||
		!strings.Contains(q, `concat('plan\n', line)`) {
		t.Error(q)
	}
}

// TestHeaders: what the environment has is sent over TLS alone, and not repeated.
func TestHeaders(t *testing.T) {
	for list, want := range map[string]string{
		"":                 "map[authorization:Bearer t]",
		"x-id=a=b, X-Two=": "map[authorization:Bearer t x-id:a=b x-two:]",
		"zzsecretzz":       "not NAME=VALUE", "a=1,zz secretzz=2": "not NAME=VALUE",
	} {
		h, err := headersOf("t", list)
		got, _ := h.GetRequestMetadata(t.Context())
		text := fmt.Sprint(got, err)
		if !strings.Contains(text, want) || strings.Contains(text, "secret") {
			t.Errorf("%q: %s", list, text)
		}
	}
	t.Setenv("DECOY_SPARK_HEADERS", "x-two=zzsecretzz")
	_, err := newConnection(&Source{Host: "h:1"})
	if err == nil || !strings.Contains(err.Error(), "tls=true") {
		t.Error(err)
	}
	c, err := newConnection(&Source{Host: "h:1", TLS: true})
	if err != nil || c.headers["x-two"] != "zzsecretzz" || !c.headers.RequireTransportSecurity() {
		t.Error(c, err)
	}
}
