package main

import (
	"errors"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// source is a table of a server.
type source struct {
	config *pgx.ConnConfig
	table  string // in SQL, with its schema
}

// parseSource reads postgres://USER@HOST:PORT/DATABASE/TABLE?SETTING=VALUE&..., TABLE with its
// schema before it (SCHEMA.TABLE) if that is not public. Settings are those of libpq. A server that
// is not on this machine must show a certificate, unless sslmode says otherwise.
func parseSource(text string) (*source, error) {
	const form = "postgres://USER@HOST/DATABASE/TABLE"
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" {
		return nil, errors.New("postgres: this is not " + form) // and not what it is
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return nil, errors.New("postgres: everyone on this machine can see a password in an address: " +
			"leave it out, and set PGPASSWORD or write ~/.pgpass")
	}
	database, table, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	parts := strings.Split(table, ".")
	if len(parts) == 1 {
		parts = []string{"public", table}
	}
	if len(parts) != 2 || database == "" || parts[0] == "" || parts[1] == "" {
		return nil, errors.New("postgres: DATABASE or TABLE is missing, or TABLE is not a name or " +
			"SCHEMA.TABLE: " + form)
	}
	u.Path = "/" + database
	config, err := pgx.ParseConfig(u.String())
	if err == nil && !u.Query().Has("sslmode") && os.Getenv("PGSSLMODE") == "" && !here(config.Host) {
		q := u.Query()
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
		config, err = pgx.ParseConfig(u.String())
	}
	if err != nil {
		return nil, errors.New("postgres: the address has a setting that is none, or one of the " +
			"environment (PGSSLMODE and others) is wrong")
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: patience}
	}
	return &source{config, name(parts[0]) + "." + name(parts[1])}, nil
}

// here reports whether a host is this machine: a folder of sockets, or a loopback address.
func here(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// name is a name in SQL.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// text is a text in SQL, with standard_conforming_strings.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
