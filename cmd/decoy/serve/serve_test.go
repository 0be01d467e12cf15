package serve

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var binary string // decoy, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "serve")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "decoy")
	if out, err := exec.Command("go", "build", "-o", binary,
		"..").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// visitor is a browser without a screen.
type visitor struct {
	t      *testing.T
	s      *Server
	dir    string
	client *http.Client
	cancel func()
	ended  chan error
}

// visit serves a folder with an example in it, and lets a visitor in.
func visit(t *testing.T) *visitor {
	t.Helper()
	v := &visitor{t: t, dir: t.TempDir()}
	v.decoy("datasets", "export", "icu-mortality", "--out", "p.csv", "--schema-out", "p.yaml")
	v.open()
	return v
}

// open serves the folder.
func (v *visitor) open() {
	s, err := Listen(v.dir, binary, 0)
	check(v.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	v.s, v.cancel, v.ended = s, cancel, ended
	go func() { ended <- s.Serve(ctx) }()
	v.t.Cleanup(func() { cancel(); <-ended; ended <- nil })
	jar, _ := cookiejar.New(nil)
	v.client = &http.Client{Jar: jar}
	v.get(s.Address()).says(200)
}

func (v *visitor) decoy(args ...string) string {
	v.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = v.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		v.t.Fatalf("decoy %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// limit sets a limit that one run of ε = 1 keeps, and two do not.
func (v *visitor) limit() {
	v.decoy("ledger", "limit", "p.csv.ledger", "--epsilon", "1.5", "--delta", "1e-6", "--schema",
		"p.yaml")
}

func (v *visitor) at(path string) string {
	if strings.HasPrefix(path, "http") {
		return path
	}
	return "http://" + v.s.listener.Addr().String() + path
}

// answer is what the page answers.
type answer struct {
	t      *testing.T
	status int
	body   string
}

func (v *visitor) read(r *http.Response, err error) answer {
	v.t.Helper()
	check(v.t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	check(v.t, err)
	return answer{v.t, r.StatusCode, string(body)}
}

// says checks the status of an answer and what is in it.
func (a answer) says(want int, texts ...string) string {
	a.t.Helper()
	if a.status != want {
		a.t.Errorf("%d, want %d: %s", a.status, want, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(html.UnescapeString(a.body), text) {
			a.t.Errorf("no %q in %s", text, a.body)
		}
	}
	return a.body
}

func (v *visitor) get(path string) answer { return v.read(v.client.Get(v.at(path))) }

func (v *visitor) post(path string, fields ...string) answer {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r, _ := http.NewRequest("POST", v.at(path), strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", v.at(""))
	return v.read(v.client.Do(r))
}

// run posts a form that begins a run, and waits until it has ended.
func (v *visitor) run(path string, fields ...string) *run {
	v.t.Helper()
	before := len(v.s.runs.list())
	if a := v.post(path, fields...); a.status != 200 || len(v.s.runs.list()) != before+1 {
		v.t.Fatalf("no run began: %d %s", a.status, a.body)
	}
	r := v.s.runs.all[before]
	select {
	case <-r.done:
	case <-time.After(2 * time.Minute):
		v.t.Fatal("the run does not end")
	}
	return r
}

func TestOnlyWithTheToken(t *testing.T) {
	v := visit(t)
	if ip := v.s.listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("it listens on %v", ip)
	}
	stranger := &http.Client{}
	for _, path := range []string{"/", "/?token=wrong", "/runs", "/page/style.css",
		"/download?file=x.decoy"} {
		if strings.Contains(v.read(stranger.Get(v.at(path))).says(403), "p.csv") {
			t.Errorf("%s tells of a file without the token", path)
		}
	}
	forged, _ := http.NewRequest("GET", v.at("/"), nil)
	port := strconv.Itoa(v.s.listener.Addr().(*net.TCPAddr).Port)
	forged.AddCookie(&http.Cookie{Name: cookiePrefix + port, Value: "wrong"})
	v.read(stranger.Do(forged)).says(403)
	stranger.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}
	r, err := stranger.Get(v.s.Address())
	check(t, err)
	c := r.Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode ||
		c[0].Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
	if to := r.Header.Get("Location"); to != "/" {
		t.Errorf("the token stays in the address: %q", to)
	}
}

// TestTwoServers: one browser may have the pages of two folders.
func TestTwoServers(t *testing.T) {
	v, other := visit(t), visit(t)
	other.client = v.client
	for _, x := range []*visitor{other, v} {
		x.get(x.s.Address()).says(200)
	}
	other.get("/runs").says(200)
}

// TestLinks: a table that is a link, or whose ledger is one, has its account elsewhere, and is
// neither listed nor taken.
func TestLinks(t *testing.T) {
	v := visit(t)
	elsewhere := filepath.Join(t.TempDir(), "ledger")
	for from, to := range map[string]string{"l.csv": "p.csv", "q.csv.ledger": elsewhere} {
		check(t, os.Symlink(to, filepath.Join(v.dir, from)))
	}
	rows, _ := os.ReadFile(filepath.Join(v.dir, "p.csv"))
	check(t, os.WriteFile(filepath.Join(v.dir, "q.csv"), rows, 0o600))
	for _, name := range []string{"l.csv", "q.csv"} {
		v.post("/run", "table", name, "schema", "p.yaml", "out", "x.csv").says(422, "is a link")
	}
}

// TestOtherSites has requests that a browser makes for another site's page: by a name of the
// site's own that points here, and with its Origin.
func TestOtherSites(t *testing.T) {
	v := visit(t)
	for _, host := range []string{"evil.example", "127.0.0.1", "localhost:1", "0.0.0.0"} {
		r, _ := http.NewRequest("GET", v.at("/"), nil)
		r.Host = host
		v.read(v.client.Do(r)).says(http.StatusMisdirectedRequest)
	}
	form := "table=p.csv&schema=p.yaml&epsilon=1&out=x.csv"
	for name, value := range map[string]string{"Origin": "http://evil.example",
		"Sec-Fetch-Site": "cross-site"} {
		r, _ := http.NewRequest("POST", v.at("/run"), strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(name, value)
		v.read(v.client.Do(r)).says(403)
	}
	if n := len(v.s.runs.list()); n != 0 {
		t.Errorf("%d runs began", n)
	}
	v.get("/run?" + form).says(405)
}

func TestHeaders(t *testing.T) {
	v := visit(t)
	for _, path := range []string{"/", "/nowhere", "/page/page.js"} {
		r, err := v.client.Get(v.at(path))
		check(t, err)
		r.Body.Close()
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'self'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store"} {
			if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s of %s is %q", name, path, got)
			}
		}
	}
	v.get("/page/table.html").says(404)
}

// TestFolderIsTheLimit asks for files outside, by every field that takes a name.
func TestFolderIsTheLimit(t *testing.T) {
	v := visit(t)
	outside := t.TempDir()
	for _, name := range []string{"secret.csv", "secret.yaml", "secret.decoy"} {
		check(t, os.WriteFile(filepath.Join(outside, name), []byte("secret"), 0o600))
		check(t, os.Symlink(filepath.Join(outside, name), filepath.Join(v.dir, "link-"+name)))
	}
	up := "../" + filepath.Base(outside)
	for _, place := range []string{outside + "/secret", up + "/secret", "link-secret",
		"./x/../../secret",
		"-secret", "a\x00b", `..\secret`} {
		for _, try := range [][]string{
			{"GET", "/schema", "table", place + ".csv"},
			{"GET", "/schema", "table", place + ".csv", "do", "edit"},
			{"GET", "/schema", "table", "p.csv", "schema", place + ".yaml", "do", "edit"},
			{"GET", "/plan", "table", "p.csv", "schema", place + ".yaml"},
			{"GET", "/result", "model", place + ".decoy"},
			{"GET", "/download", "file", place + ".decoy"},
			{"POST", "/sample", "model", place + ".decoy", "out", "y.csv"},
			{"GET", "/batch", "batch", place + ".yaml"},
			{"POST", "/batch", "batch", place + ".yaml"},
			{"POST", "/describe", "table", "p.csv", "header-is-public", "yes", "out", place + ".yaml"},
			{"POST", "/run", "table", "p.csv", "schema", "p.yaml", "out", "x.csv", "ledger",
				place + ".ledger"},
			{"POST", "/run", "table", place + ".csv", "schema", "p.yaml", "out", "x.csv"},
			{"POST", "/run", "table", "p.csv", "schema", place + ".yaml", "out", "x.csv"},
			{"POST", "/run", "table", "p.csv", "schema", "p.yaml", "out", place + ".csv"},
			{"POST", "/schema/save", "table", "p.csv", "name", place + ".yaml", "text",
				"decoy: 1\ncolumns:\n  - {name: a, kind: boolean}\n"},
		} {
			form := url.Values{}
			for i := 2; i+1 < len(try); i += 2 {
				form.Set(try[i], try[i+1])
			}
			a := v.get(try[1] + "?" + form.Encode())
			if try[0] == "POST" {
				a = v.post(try[1], try[2:]...)
			}
			if a.status != 422 || strings.Contains(a.body, "secret</") {
				t.Errorf("%q gives %d", try, a.status)
			}
		}
	}
	if n := len(v.s.runs.list()); n != 0 {
		t.Errorf("%d runs began", n)
	}
	for _, name := range []string{"secret.csv", "secret.yaml"} {
		if got, _ := os.ReadFile(filepath.Join(outside, name)); string(got) != "secret" {
			t.Errorf("%s was written", name)
		}
	}
	if strings.Contains(v.get("/").body, "link-secret") {
		t.Error("a link that leads out is listed")
	}
}

func TestLargeRequest(t *testing.T) {
	v := visit(t)
	text := strings.Repeat("# x\n", mostBody/4)
	for path, fields := range map[string][]string{
		"/schema/check": {"text", text},
		"/schema/save":  {"table", "p.csv", "name", "z.yaml", "text", text},
		"/run":          {"table", "p.csv", "schema", "p.yaml", "out", "x.csv", "method", text},
		"/sample":       {"model", text},
	} {
		v.post(path, fields...).says(422, "more than the 1 MiB that it takes at once")
	}
	if _, err := os.Stat(filepath.Join(v.dir, "z.yaml")); err == nil || len(v.s.runs.list()) > 0 {
		t.Error("a part of a request was carried out")
	}
	v.get("/plan?table=%zz").says(422, "not a form of this page")
}

// TestWholeWay goes the five steps, as the browser's test does, and holds every page against the
// rows of the private table: none of them has a cell that is not public.
func TestWholeWay(t *testing.T) {
	v := visit(t)
	secret := "SECRET-CELL-4711"
	rows, err := os.ReadFile(filepath.Join(v.dir, "p.csv"))
	check(t, err)
	// A column that the schema does not name, of which no page may show anything but its name.
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	for i := range lines {
		lines[i] += map[bool]string{true: ",note", false: "," + secret}[i == 0]
	}
	v.write("p.csv", strings.Join(lines, "\n"))
	v.limit()
	page := func(path string, want ...string) string {
		t.Helper()
		body := v.get(path).says(200, want...)
		if strings.Contains(body, secret) {
			t.Errorf("%s shows a cell", path)
		}
		return body
	}
	page("/", "p.csv", "ε 0 of 1.5")
	page("/schema?table=p.csv", "p.yaml")
	page("/schema?table=p.csv&do=edit", "name: admitted", "p-2.yaml")
	page("/schema?table=p.csv&schema=p.yaml&do=edit", "✓ 12 columns")
	page("/plan?table=p.csv&schema=p.yaml", "15 people", "p-synthetic.csv",
		"<span>--schema=p.yaml</span>")
	page("/plan?table=p.csv&schema=p.yaml&epsilon=9", "more than the limit")
	r := v.run("/run", "table", "p.csv", "schema", "p.yaml", "epsilon", "1", "out", "s.csv", "method",
		"mst")
	if got := v.s.runs.now(r); got.State != "done" || len(got.Outputs) != 2 {
		t.Fatalf("the run is %+v", got)
	}
	page("/run/1", "✓ Done", "<span>p.csv</span>")
	const preview = "<pre class=\"rows\""
	page("/result?model=s.decoy", "ε = 1, δ = 1e-09", "checked against its own ledger",
		"not private", preview)
	if got := page("/download?file=s.csv"); !strings.HasPrefix(got, "sapsii,sofa") {
		t.Errorf("the table is %q", got[:20])
	}
	v.get("/download?file=p.csv").says(422)
	page("/schema?table=s.csv", "is synthetic already: the model s.decoy gives it")

	// The output is there, and the limit is near.
	r = v.run("/run", "table", "p.csv", "schema", "p.yaml", "out", "s.csv")
	if got := v.s.runs.now(r); !strings.Contains(strings.Join(got.Talk, " "), "a file already") {
		t.Errorf("a run over a file is %+v", got)
	}
	r = v.run("/run", "table", "p.csv", "schema", "p.yaml", "epsilon", "1", "out", "s2.csv", "method",
		"mst")
	if got := v.s.runs.now(r); got.State != "failed" ||
		!strings.Contains(strings.Join(got.Talk, " "), "limit") {
		t.Errorf("a run over the limit is %+v", got)
	}

	v.run("/sample", "model", "s.decoy", "rows", "17", "seed", "3", "out", "t.csv")
	if body := page("/download?file=t.csv"); strings.Count(body, "\n") != 18 {
		t.Errorf("a table of 17 rows has %d lines", strings.Count(body, "\n"))
	}
	r = v.run("/evaluate", "run", "1")
	if got := v.s.runs.now(r); got.State != "done" {
		t.Fatalf("the evaluation is %+v", got)
	}
	if info, err := os.Stat(filepath.Join(v.dir, r.outputs[0])); err != nil ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("the report is %v, %v", info, err)
	}
	report := page("/report/"+v.s.runs.now(r).ID, "<html")
	if !regexp.MustCompile(`(?i)not private`).MatchString(report) {
		t.Error("the report does not say that it is not private")
	}
	v.get("/download?file=" + r.outputs[0]).says(422)
	page("/runs", "s.decoy", "p.csv.ledger", "evaluate")

	// What has taken the place of an output is a table, and is not given away; nor is one byte more.
	made, err := os.ReadFile(filepath.Join(v.dir, "s.csv"))
	check(t, err)
	for _, text := range []string{secret + "\n1\n", string(made) + "\n", string(made[:len(made)-1]),
		strings.Replace(string(made), "\n1", "\n9", 1), ""} {
		v.write("s.csv", text)
		page("/result?model=s.decoy", preview, "It is a table like any other")
		v.get("/download?file=s.csv").says(422)
		if strings.Contains(page("/schema?table=s.csv"), "is synthetic") {
			t.Errorf("a table of %d bytes is called synthetic", len(text))
		}
	}
	// Another page of the folder knows the table by the model beside it, and not by the name alone.
	v.write("s.csv", string(made))
	v.cancel()
	<-v.ended
	v.ended <- nil
	v.open()
	page("/schema?table=s.csv", "is synthetic already: the model s.decoy gives it")
	page("/download?file=s.csv", "sapsii,sofa")
	check(t, os.Rename(filepath.Join(v.dir, "s.decoy"), filepath.Join(v.dir, "p.decoy")))
	for _, name := range []string{"s.csv", "p.csv"} {
		if strings.Contains(page("/schema?table="+name), "is synthetic") {
			t.Errorf("%s is called synthetic", name)
		}
		v.get("/download?file=" + name).says(422)
	}
}

// TestStopAndContinue stops a run half way by the button, continues it, stops it again by ending
// the server, and finishes it in a new one by the same steps: it is paid once.
func TestStopAndContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: runs that take seconds")
	}
	v := visit(t)
	// journal waits for the run to have reserved its budget, which it does before a first answer.
	journal := func() {
		t.Helper()
		for range 3000 {
			time.Sleep(20 * time.Millisecond)
			found, _ := filepath.Glob(filepath.Join(v.dir, "*.journal"))
			if len(found) != 1 {
				continue
			}
			if text, _ := os.ReadFile(found[0]); bytes.Count(text, []byte("\n")) > 1 {
				return
			}
		}
		t.Fatal("no journal with an answer appears")
	}
	form := []string{"table", "p.csv", "schema", "p.yaml", "epsilon", "1", "method", "wgan", "out",
		"s.csv"}
	v.post("/run", form...).says(200)
	r := v.s.runs.all[0]
	journal()
	v.post("/run/1/stop")
	<-r.done
	if got := v.s.runs.now(r); got.State != "stopped" || !got.Resumable {
		t.Fatalf("after the stop the run is %+v", got)
	}
	v.post("/run/1/again")
	second := v.s.runs.all[1]
	if got := v.s.runs.now(second); !strings.Contains(got.Command, "--resume") {
		t.Errorf("it continues by %s", got.Command)
	}
	time.Sleep(300 * time.Millisecond)
	v.cancel() // the server ends
	if err := <-v.ended; err != nil {
		t.Error(err)
	}
	v.ended <- nil
	<-second.done
	if got := v.s.runs.now(second); got.State == "done" {
		t.Skip("the run ended before the server did")
	}
	v.open()
	v.run("/run", form...)
	v.get("/run/1").says(200, "its budget is spent", "Continue it")
	if got := v.s.runs.now(v.run("/run/1/again")); got.State != "done" {
		t.Errorf("in a new server the run is %+v", got)
	}
	out := v.decoy("ledger", "show", "p.csv.ledger")
	if !strings.Contains(out, "spent   epsilon 1, delta") {
		t.Errorf("the ledger says %s", out)
	}
}

// TestTwoTabs has two runs at once on one ledger, whose limit allows one of them.
func TestTwoTabs(t *testing.T) {
	v := visit(t)
	v.limit()
	for _, out := range []string{"a.csv", "b.csv"} {
		v.post("/run", "table", "p.csv", "schema", "p.yaml", "epsilon", "1", "method",
			"mst", "out", out).says(200)
	}
	done := 0
	for _, r := range v.s.runs.all {
		<-r.done
		if got := v.s.runs.now(r); got.State == "done" {
			done++
		} else if !strings.Contains(strings.Join(got.Talk, " "), "limit") {
			t.Errorf("a run ended with %q", got.Talk)
		}
	}
	if done != 1 {
		t.Errorf("%d of two runs came to their end", done)
	}
}

func TestShown(t *testing.T) {
	got := shown([]string{"generate", "a b.csv", "--target=it's"})
	if got != `decoy generate 'a b.csv' '--target=it'\''s'` {
		t.Error(got)
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		want  [3]string
	}{{32, [3]string{"poor", "poor", "good"}}, {1, [3]string{"good", "good", "good"}}, {200,
		[3]string{"poor", "poor", "poor"}}} {
		for i, g := range groups(c.sigma) {
			if g.Class != c.want[i] || g.Low > g.Size || g.High < g.Size {
				t.Errorf("σ = %g: %+v", c.sigma, g)
			}
		}
	}
}

// TestDoesNotInheritSettings: what is run is the command line that is shown.
func TestDoesNotInheritSettings(t *testing.T) {
	t.Setenv("DECOY_EPSILON", "5")
	cmd := program{path: binary, dir: t.TempDir()}.command(context.Background(), "version")
	if bytes.Contains([]byte(strings.Join(cmd.Env, "\n")), []byte("DECOY_")) {
		t.Error("a DECOY_ variable reaches the program")
	}
}

// write puts a file into the folder.
func (v *visitor) write(name, text string) {
	v.t.Helper()
	check(v.t, os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o644))
}

// TestEditor: a text is checked, and saved if it is a schema and takes the place of none.
func TestEditor(t *testing.T) {
	v := visit(t)
	v.post("/schema/check", "text", "decoy: 1\ncolumns: nonsense").says(200, `class="note bad"`)
	const text = "decoy: 1\ncolumns:\n  - {name: age, kind: integer, min: 0, max: 99}\n"
	for name, status := range map[string]int{"p.yaml": 422, "new.yaml": 200} {
		v.post("/schema/save", "table", "p.csv", "name", name, "text", "decoy: 1").says(422)
		v.post("/schema/save", "table", "p.csv", "name", name, "text", text).says(status)
	}
	v.post("/schema/save", "table", "p.csv", "schema", "p.yaml", "name", "p.yaml", "replace", "yes",
		"text", text).says(200, "Plan the release")
}

// TestBudget: what is no budget is refused on the page where it is typed, and by the run; a weak
// one is warned of.
func TestBudget(t *testing.T) {
	v := visit(t)
	for _, wrong := range []string{"epsilon=-1", "epsilon=0", "epsilon=1&delta=-1e-9"} {
		v.get("/plan?table=p.csv&schema=p.yaml&"+wrong).says(200, "must be")
	}
	r := v.run("/run", "table", "p.csv", "schema", "p.yaml", "epsilon", "-1", "out", "o.csv")
	talk := strings.Join(v.s.runs.now(r).Talk, " ")
	if !strings.Contains(talk, "ε -1 must be above 0") {
		t.Errorf("a run with a negative budget says %s", talk)
	}
	body := v.get("/plan?table=p.csv&schema=p.yaml&epsilon=20").says(200, "such a guarantee is weak")
	if !regexp.MustCompile(`From about \d+ rows .*, from \d+ most`).MatchString(body) {
		t.Errorf("numbers of rows are not whole: %s", body)
	}
}

// TestBought: a run buys its schema, by which it is compared then; one that cannot read its table
// spends nothing.
func TestBought(t *testing.T) {
	v := visit(t)
	bought := []string{"table", "p.csv", "header-is-public", "yes", "epsilon", "3", "method", "mst"}
	v.get("/plan?table=p.csv&header-is-public=yes").says(200, "for a third of ε",
		"Which column will people predict?", "perhaps mortality")
	v.run("/run", append(bought, "out", "b.csv")...)
	v.get("/result?model=b.decoy").says(200, "checked against its own ledger")
	if got := v.s.runs.now(v.run("/evaluate", "run", "1")); got.State != "done" {
		t.Errorf("the evaluation is %+v", got)
	}
	v.write("latin.csv", "caf\xe9,b\n1,2\n")
	v.get("/plan?table=latin.csv&header-is-public=yes").says(200, "not valid UTF-8")
	r := v.run("/run", "table", "latin.csv", "header-is-public", "yes", "epsilon", "1", "out", "x.csv")
	if got := strings.Join(v.s.runs.now(r).Talk, " "); !strings.Contains(got, "not valid UTF-8") {
		t.Errorf("the run says %s", got)
	}
}

// TestLinkedTables makes two tables at once, and says before a run which file or choice is missing.
func TestLinkedTables(t *testing.T) {
	v := visit(t)
	people, visits := "id,sex\n", "of,day,state\n"
	for i := range 400 {
		people += fmt.Sprintf("%d,%s\n", i, []string{"f", "m"}[i%2])
		visits += fmt.Sprintf("%d,%d,ill\n%[1]d,%[3]d,well\n", i, i%9, 20+i%8)
	}
	v.write("people.csv", people)
	v.write("visits.csv", visits)
	v.write("clinic.yaml", `decoy: 1
unit: id
tables:
  - {name: people, columns: [{name: sex, kind: categorical, categories: [f, m]}]}
  - {name: visits, parent: people, key: of, order: {by: day, rows: 3}, columns: [
      {name: day, kind: integer, min: 0, max: 40, bins: 8},
      {name: state, kind: categorical, categories: [ill, well]}]}
`)
	for query, want := range map[string]string{"&schema=clinic.yaml": "does not fit one table",
		"&more=visits.csv&schema=p.yaml":          "two that are linked",
		"&more=nobody.csv&header-is-public=yes":   "nobody.csv",
		"&more=visits,b.csv&header-is-public=yes": "without a comma",
	} {
		v.get("/plan?table=people.csv"+query).says(422, want)
	}
	v.get("/schema?table=people.csv").says(200, `<select name="more">`, "<option>visits.csv</option>")
	v.get("/schema?table=people.csv&schema=clinic.yaml&do=edit").says(200, "✓ 3 columns",
		"visits.state")
	v.get("/plan?table=people.csv&more=visits.csv&header-is-public=yes").says(200,
		`<select name="of" required>`, `value="visits.of"`, `value="people.id"`, `value="visits.day"`)
	v.get("/plan?table=people.csv&more=visits.csv&schema=clinic.yaml").says(200, "15 people",
		`name="out-dir" value="people-synthetic"`)
	args, written, err := v.s.folder.command("generate", choiceOf(url.Values{"table": {"people.csv"},
		"more": {"visits.csv"}, "of": {"visits.of"}, "to": {"people.id"}, "order": {"visits.day"},
		"header-is-public": {"yes"}, "out-dir": {"o"}, "model": {"o.decoy"}}))
	check(t, err)
	if got, want := shown(args), "decoy generate people.csv visits.csv --link=visits.of=people.id "+
		"--order=visits.day --header-is-public --epsilon=1 --out-dir=o --model=o.decoy"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if want := []string{"o/people.csv", "o/visits.csv", "o.decoy"}; !slices.Equal(written, want) {
		t.Errorf("it writes %q, not %q", written, want)
	}

	v.run("/run", "table", "people.csv", "more", "visits.csv", "schema", "clinic.yaml", "out-dir",
		"made")
	v.get("/run/1").says(200, "✓ Done", "/result?model=made.decoy")
	v.get("/result?model=made.decoy").says(200, "in all tables", "/download?file=made%2fvisits.csv",
		"<b>people.csv</b> and <b>visits.csv</b>", "decoy</span> <span>sample")
	if got := v.get("/download?file=made/visits.csv").says(200); !strings.HasPrefix(got, "of,day,") {
		t.Errorf("the table is %.20q", got)
	}
	v.get("/download?file=visits.csv").says(422)
	v.run("/evaluate", "run", "1")
	v.get("/result?model=made.decoy").says(200, "Has every row a unit, and its place?")
}

// TestLedgerIsNoFile: a pipe in the place of a ledger, which nobody writes into, holds no page up.
func TestLedgerIsNoFile(t *testing.T) {
	v := visit(t)
	v.client.Timeout = 20 * time.Second
	ledger := filepath.Join(v.dir, "p.csv.ledger")
	for name, make := range map[string]func() error{
		"pipe":   func() error { return exec.Command("mkfifo", ledger).Run() },
		"folder": func() error { return os.Mkdir(ledger, 0o700) },
	} {
		if err := make(); err != nil && name == "pipe" {
			t.Skip("no mkfifo here:", err)
		}
		for path, says := range map[string]string{"/": "unreadable ledger",
			"/schema?table=p.csv":                    "p.csv.ledger is ",
			"/plan?table=p.csv&schema=p.yaml":        "p.csv.ledger is ",
			"/plan?table=p.csv&header-is-public=yes": "p.csv.ledger is "} {
			v.get(path).says(200, says)
		}
		r := v.run("/run", "table", "p.csv", "schema", "p.yaml", "epsilon", "1", "out", "x.csv")
		if talk := strings.Join(v.s.runs.now(r).Talk, " "); !strings.Contains(talk, "p.csv.ledger is") {
			t.Errorf("a run with a %s for a ledger says %q", name, talk)
		}
		check(t, os.Remove(ledger))
	}
}

// slow is a program that notes when it begins and ends, and takes its time.
func slow(t *testing.T) (p program, began func() int) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "program")
	check(t, os.WriteFile(script, []byte("#!/bin/sh\necho x >>began\nwhile [ ! -e go ]; do "+
		"sleep .02; done\necho '{}'\n"), 0o700))
	return program{script, dir, new(sync.Mutex)}, func() int {
		b, _ := os.ReadFile(filepath.Join(dir, "began"))
		return len(b) / 2
	}
}

// until waits for what other processes do.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: it does not come to that", what)
}

// TestFewProcesses: however many figures a browser asks for, few processes work on them, and what
// nobody waits for any more is not begun.
func TestFewProcesses(t *testing.T) {
	p, began := slow(t)
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error, 100)
	ask := func(ctx context.Context) {
		for i := range 20 {
			go func() { _, err := p.ask(ctx, nil, "plan", strconv.Itoa(i)); errs <- err }()
		}
	}
	ask(ctx)
	until(t, "one begins", func() bool { return began() == 1 })
	cancel()
	for range 20 {
		if err := <-errs; err != context.Canceled {
			t.Errorf("a question that was given up: %v", err)
		}
	}
	if n := began(); n != 1 {
		t.Errorf("%d processes began, one at a time", n)
	}
	ask(context.Background())
	until(t, "one more begins", func() bool { return began() == 2 })
	check(t, os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600))
	for range 20 {
		check(t, <-errs)
	}
	if n := began(); n != 21 {
		t.Errorf("%d processes began for 20 questions", n-1)
	}
}

// TestFewRuns: no more than a few runs are at work at once.
func TestFewRuns(t *testing.T) {
	p, began := slow(t)
	all := &runs{program: p, ctx: context.Background()}
	for i := range mostWorking {
		_, err := all.start("sample", nil, []string{strconv.Itoa(i)}, choice{})
		check(t, err)
	}
	_, err := all.start("sample", nil, []string{"more"}, choice{})
	if err == nil || !strings.Contains(err.Error(), "the most at a time") {
		t.Errorf("one run more: %v", err)
	}
	until(t, "all begin", func() bool { return began() == mostWorking })
	check(t, os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600))
	for _, r := range all.all {
		<-r.done
	}
	if _, err := all.start("sample", nil, []string{"more"}, choice{}); err != nil {
		t.Errorf("a run after the others: %v", err)
	}
	all.working.Wait()
}

// check ends the test on an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
