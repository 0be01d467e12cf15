package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// patience is how long a server may take to cancel a statement.
const patience = 10 * time.Second

// openServer opens a session of PostgreSQL, which is one read-only transaction. Settings are those
// of libpq. A server that is not on this machine must show a certificate, unless sslmode says
// otherwise.
func openServer(ctx context.Context, address string) (*relation, session, func(), error) {
	const form = "postgres://USER@HOST/DATABASE/TABLE"
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, nil, errors.New("postgres: this is not " + form) // and not what it is
	}
	database, table, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	from, err := postgreSQL.names("public", table)
	if err != nil || database == "" || strings.Contains(table, "/") {
		return nil, nil, nil, errors.New("postgres: DATABASE or TABLE is missing, or TABLE is not a " +
			"name or SCHEMA.TABLE: " + form)
	}
	u.Path = "/" + database
	config, err := pgconn.ParseConfig(u.String())
	if err == nil && !u.Query().Has("sslmode") && os.Getenv("PGSSLMODE") == "" && !here(config) {
		q := u.Query()
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
		config, err = pgconn.ParseConfig(u.String())
	}
	if err != nil {
		return nil, nil, nil, errors.New("postgres: the address has a setting that is none, or one of " +
			"the environment (PGSSLMODE and others) is wrong")
	}
	config.RuntimeParams["client_encoding"] = "UTF8" // of the statement, whatever the database prefers
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: patience}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("postgres: no connection to %s: %w", config.Host, words(err))
	}
	s := server{conn}
	// extract(epoch) is exact from 14 on; not every system's server can look whether decoy is there
	const checked = "; SELECT CASE WHEN version() ~ 'linux' THEN set_config(" +
		"'client_connection_check_interval', '5s', true) END WHERE " +
		"current_setting('server_version_num')::int >= 140000 AND " +
		"current_setting('server_encoding') = 'UTF8'"
	old := errors.New("a server of version 14 or later is needed, and a database in UTF8")
	err = s.rows(ctx, postgreSQL.prepare+checked, func([]string) error {
		old = nil
		return nil
	})
	if err = cmp.Or(err, old); err != nil {
		s.close()
		return nil, nil, nil, fmt.Errorf("postgres: %w", err)
	}
	return &relation{dialect: postgreSQL, from: from}, s.rows, s.close, nil
}

// here reports whether all hosts are this machine: a folder of sockets, or a loopback address.
func here(c *pgconn.Config) bool {
	for _, host := range append(c.Fallbacks, &pgconn.FallbackConfig{Host: c.Host}) {
		ip := net.ParseIP(host.Host)
		if !strings.HasPrefix(host.Host, "/") && host.Host != "localhost" &&
			(ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// port is one of an error: whoever forgot a host may have put a password there.
var port = regexp.MustCompile(`(:|[.]PGSQL[.])[0-9]+\b`)

// words are those of the server alone: what pgconn adds are the address and its settings.
func words(err error) error {
	if said := (*pgconn.PgError)(nil); errors.As(err, &said) {
		return said
	}
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n") // a try each
	line := strings.TrimSpace(lines[len(lines)-1])
	line = strings.TrimPrefix(line[1+strings.LastIndex(line, "`"):], ": ")
	return errors.New(port.ReplaceAllString(line, ""))
}

// server is a transaction of a server.
type server struct{ conn *pgconn.PgConn }

func (s server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.conn.Close(ctx)
}

// rows is a session.
func (s server) rows(ctx context.Context, statement string, each func(row []string) error) error {
	results := s.conn.Exec(ctx, statement)
	var row []string
	for results.NextResult() {
		for rows := results.ResultReader(); rows.NextRow(); {
			row = row[:0]
			for _, cell := range rows.Values() {
				row = append(row, string(cell))
			}
			if err := each(row); err != nil {
				results.Close()
				return err
			}
		}
	}
	return words(results.Close())
}
