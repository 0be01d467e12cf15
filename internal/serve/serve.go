// Package serve is decoy's local page for people: five steps from a private table to a synthetic
// one, in a browser on the same machine. Each step stands for a command line, which it shows, and
// which the program itself carries out as a process of its own: the page can do nothing that the
// command line cannot, and a run outlives the tab that began it.
//
// The page listens on the loopback interface only. Whoever opens it must know a random token;
// requests of other sites, and such as name another host, are refused (see guard.go). Files outside
// the folder are out of reach (folder.go). No cell of a private table is on a page, but for the
// report of an evaluation, which says so.
package serve

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed page
var pages embed.FS

// Server is the page of one folder.
type Server struct {
	folder    *folder
	program   program
	runs      *runs
	templates *template.Template
	listener  net.Listener
	token     string
}

// Listen opens the page of a folder on 127.0.0.1, at a port (0: any that is free). program is the
// path of the decoy binary that carries out the steps.
func Listen(dir, path string, port int) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		root.Close()
		return nil, err
	}
	p := newProgram(path, dir)
	return &Server{folder: &folder{root, dir}, program: p,
		runs: &runs{program: p, folder: root}, listener: l,
		token:     rand.Text(),
		templates: template.Must(template.New("").Funcs(functions).ParseFS(pages, "page/*.html"))}, nil
}

// Address is the page's own, with the token that lets a browser in.
func (s *Server) Address() string {
	return fmt.Sprintf("http://%s/?token=%s", s.listener.Addr(), s.token)
}

// Serve answers until the context ends. Then runs that are under way are interrupted, as by Ctrl-C:
// each can be resumed at no further cost. It returns when they have stopped.
func (s *Server) Serve(ctx context.Context) error {
	defer s.folder.root.Close()
	server := &http.Server{
		Handler:           s.guard(s.routes()),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		s.runs.stop()
		return err
	case <-ctx.Done():
	}
	s.runs.stop()
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(late)
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(*request) error{
		"GET /{$}":             s.tables,
		"GET /schema":          s.schema,
		"POST /schema/compose": s.compose,
		"POST /schema/check":   s.check,
		"POST /schema/save":    s.save,
		"POST /schema/import":  s.importSchema,
		"GET /plan":            s.plan,
		"GET /plan/figures":    s.figures,
		"POST /run":            s.start,
		"GET /runs":            s.history,
		"GET /run/{id}":        s.ofRun(s.run),
		"GET /run/{id}/state":  s.ofRun(s.state),
		"POST /run/{id}/stop":  s.ofRun(s.interrupt),
		"POST /run/{id}/again": s.ofRun(s.again),
		"GET /result":          s.result,
		"POST /sample":         s.sample,
		"POST /evaluate":       s.evaluate,
		"GET /report/{id}":     s.ofRun(s.report),
		"GET /file/{id}/{n}":   s.ofRun(s.file),
		"GET /model":           s.model,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			q := &request{w: w, r: r}
			err := q.parse()
			if err == nil {
				err = handle(q)
			}
			if err != nil {
				s.fail(q, err)
			}
		})
	}
	mux.Handle("GET /page/", onlyAssets(http.FileServerFS(pages)))
	return mux
}

// onlyAssets serves style and script, not the templates.
func onlyAssets(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Ext(r.URL.Path) {
		case ".css", ".js", ".svg":
			h.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}
