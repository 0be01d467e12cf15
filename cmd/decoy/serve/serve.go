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
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

//go:embed page/*.html
var pages embed.FS

//go:embed page/*.css page/*.js page/*.svg
var assets embed.FS

// templates are made when a page is first asked for: other verbs have none.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"lines": func(text string) []string { return strings.Split(text, "\n") },
		"bytes": spelling.Size, "short": configs.Short, "time": spelling.Time,
		"rows":  func(x float64) string { return fmt.Sprintf("%.0f", math.Ceil(x)) },
		"steps": func() []string { return []string{"Table", "Schema", "Plan", "Run", "Result"} },
		"next":  func(i int) int { return i + 1 },
		"base":  path.Base,
		"stem":  func(name string) string { return stem(path.Base(name)) },
		"words": strings.Fields,
		"judge": judge,
		"in":    func(word, list string) bool { return slices.Contains(strings.Fields(list), word) },
		"head":  func(p page, title string, step int) page { p.Title, p.Step = title, step; return p },
	}).ParseFS(pages, "page/*.html"))
})

// Server is the page of one folder.
type Server struct {
	folder   *folder
	program  program
	runs     *runs
	drawn    program // that compares tables with models
	listener net.Listener
	token    string
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
	f, p := &folder{root, dir}, program{path, dir, new(sync.Mutex)}
	return &Server{folder: f, program: p, runs: &runs{program: p}, listener: l,
		drawn: program{path, dir, new(sync.Mutex)},
		token: rand.Text()}, nil
}

// Address is the page's own, with the token that lets a browser in.
func (s *Server) Address() string {
	return fmt.Sprintf("http://%s/?token=%s", s.listener.Addr(), s.token)
}

// Serve answers until the context ends. Then runs that are under way are interrupted, as by Ctrl-C:
// each can be resumed at no further cost. It returns when they have stopped.
func (s *Server) Serve(ctx context.Context) error {
	defer s.folder.root.Close()
	server := &http.Server{Handler: s.guard(s.routes()), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	var stop context.CancelFunc
	s.runs.ctx, stop = context.WithCancel(ctx)
	defer s.runs.working.Wait()
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(late)
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(*request) error{
		"GET /{$}":             (*request).tables,
		"GET /schema":          (*request).schema,
		"POST /schema/check":   (*request).check,
		"POST /schema/save":    (*request).save,
		"POST /describe":       func(q *request) error { return q.begin("schema infer") },
		"GET /plan":            (*request).plan,
		"GET /batch":           (*request).batch,
		"POST /batch":          func(q *request) error { return q.begin("batch") },
		"POST /run":            (*request).generate,
		"GET /runs":            (*request).history,
		"GET /run/{id}":        (*request).showRun,
		"POST /run/{id}/stop":  (*request).stop,
		"POST /run/{id}/again": (*request).again,
		"GET /result":          (*request).result,
		"GET /certificate":     (*request).certificate,
		"POST /sample":         func(q *request) error { return q.begin("sample") },
		"POST /evaluate":       (*request).evaluate,
		"GET /report/{id}":     (*request).report,
		"GET /download":        (*request).download,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			q := &request{Server: s, w: w, r: r}
			err := q.parse()
			if err == nil {
				err = handle(q)
			}
			if err != nil {
				q.fail(err)
			}
		})
	}
	mux.Handle("GET /page/", http.FileServerFS(assets))
	return mux
}

// request is one request and its answer.
type request struct {
	*Server
	w      http.ResponseWriter
	r      *http.Request
	choice choice
	run    *run // that the address names, else nil
}

var errMissing = errors.New("missing")

// parse reads the form. One that is too long, or is none, is an error before a step sees less than
// was sent.
func (q *request) parse() error {
	if err := q.r.ParseForm(); err != nil {
		return problemf("The request is not a form of this page, or has more than the 1 MiB that it " +
			"takes at once: nothing was done. A longer schema can be written into the folder.")
	}
	q.choice = choiceOf(q.r.Form)
	if id := q.r.PathValue("id"); id != "" {
		if q.run = q.runs.last(func(v view) bool { return v.ID == id }); q.run == nil {
			return errMissing
		}
	}
	return nil
}

// part reports whether a part of a page is asked for, which the page's script puts in its place.
func (q *request) part() bool { return q.r.Header.Get("X-Part") != "" }

// value is a field of the form that parse has read.
func (q *request) value(name string) string { return strings.TrimSpace(q.r.Form.Get(name)) }

func (q *request) redirect(to string) error {
	http.Redirect(q.w, q.r, to, http.StatusSeeOther)
	return nil
}

// page is what every page is given.
type page struct {
	Title, Folder string
	Step          int // 1 to 5; 0 is no step
	Choice        choice
	Ledger        *account // of the table that is chosen
	Body          any
}

// show writes a page.
func (q *request) show(name string, body any) error {
	return q.write(http.StatusOK, name, page{Folder: q.folder.dir, Choice: q.choice,
		Ledger: q.folder.ledger(q.choice.Ledger()), Body: body})
}

// write writes a page or a part of one.
func (q *request) write(status int, name string, data any) error {
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, err := io.Copy(q.w, &out)
	return err
}

// fail shows an error: a page, or for a part of a page its text alone.
func (q *request) fail(err error) {
	status, text := http.StatusInternalServerError, "Something went wrong: "+err.Error()
	var p problem
	switch {
	case errors.Is(err, errMissing):
		status, text = http.StatusNotFound, "There is no such page."
	case errors.As(err, &p):
		status, text = http.StatusUnprocessableEntity, string(p)
	}
	if q.part() {
		q.write(status, "problem", text)
		return
	}
	q.write(status, "failure.html", page{Folder: q.folder.dir, Choice: q.choice, Body: text})
}
