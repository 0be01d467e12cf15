// Package browser walks the pages of decoy serve in a real Chromium. It is a module of its own, so
// that the driver of the browser is no dependency of decoy. From this folder:
//
//	go test ./... -v
//
// SHOTS=DIR keeps a picture of every page. Without a Chromium the tests say that they did not run.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// site is a running decoy serve and a browser on it.
type site struct {
	t      *testing.T
	dir    string // the folder that is served
	decoy  string
	ctx    context.Context
	axe    string // the script of axe-core, empty without it
	errors []string
	view   string // of the pictures' names
	pages  int
}

func open(t *testing.T) *site {
	t.Helper()
	path := ""
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(n); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine: the pages were not walked")
	}
	s := &site{t: t, dir: t.TempDir(), decoy: filepath.Join(t.TempDir(), "decoy")}
	build := exec.Command("go", "build", "-o", s.decoy, "./cmd/decoy")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.run("datasets", "export", "icu-mortality", "--out", "patients.csv", "--schema-out",
		"patients.yaml")
	s.run("ledger", "limit", "patients.csv.ledger", "--epsilon", "3", "--delta", "1e-6",
		"--schema", "patients.yaml")
	jobs := "name: two\ntables: [{name: patients, input: patients.csv, schema: patients.yaml}]\n" +
		"methods: [mst]\nepsilons: [0.5, 1]\njob: {out: \"{epsilon}.csv\", evaluate: {}}\n"
	if err := os.WriteFile(filepath.Join(s.dir, "jobs.yaml"), []byte(jobs), 0o600); err != nil {
		t.Fatal(err)
	}
	s.axe = axe(t)

	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	address := s.serve(ctx)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	s.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	chromedp.ListenTarget(s.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			s.errors = append(s.errors, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError {
				s.errors = append(s.errors, fmt.Sprint(e.Args))
			}
		}
	})
	s.do(chromedp.Navigate(address))
	return s
}

// serve starts decoy serve, and returns the address of its page.
func (s *site) serve(ctx context.Context) string {
	s.t.Helper()
	serve := exec.CommandContext(ctx, s.decoy, "serve", s.dir)
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { serve.Process.Signal(os.Interrupt); serve.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "open this page in a browser: ")
	if err != nil || !found {
		s.t.Fatalf("decoy serve says %q, %v", line, err)
	}
	return address
}

func (s *site) run(args ...string) {
	s.t.Helper()
	cmd := exec.Command(s.decoy, args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("decoy %s: %v\n%s", args, err, out)
	}
}

// axe is the script of axe-core, from npm.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	fetch := exec.Command("sh", "-c",
		"npm pack --silent axe-core@4.10.3 && tar -xzf axe-core-4.10.3.tgz package/axe.min.js")
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Logf("axe-core was not run: %v %s", err, out)
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dir, "package", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *site) do(actions ...chromedp.Action) {
	s.t.Helper()
	if err := chromedp.Run(s.ctx, actions...); err != nil {
		s.t.Fatal(err)
	}
}

// look sets the size of the window and the colours.
func (s *site) look(width int64, colours string) {
	s.t.Helper()
	s.view = fmt.Sprintf("%d-%s", width, colours)
	s.do(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}))
}

// check looks at a page: it has a heading, it is not wider than the window, the console is quiet,
// and axe-core finds no serious fault.
func (s *site) check(name string) {
	s.t.Helper()
	s.pages++
	var page struct {
		Heading string
		Over    int
	}
	s.do(chromedp.WaitReady("h1"), chromedp.Evaluate(`({
		Heading: document.querySelector("h1").textContent,
		Over: document.documentElement.scrollWidth - window.innerWidth})`, &page))
	if page.Heading == "" || page.Over > 0 {
		s.t.Errorf("%s at %s: heading %q, %d px wider than the window", name, s.view, page.Heading,
			page.Over)
	}
	for _, e := range s.errors {
		s.t.Errorf("%s at %s: the console says %s", name, s.view, e)
	}
	s.errors = nil
	if dir := os.Getenv("SHOTS"); dir != "" {
		var picture []byte
		s.do(chromedp.FullScreenshot(&picture, 100))
		file := filepath.Join(dir, fmt.Sprintf("%s-%s.png", name, s.view))
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	if s.axe == "" || s.view == "390-light" || s.view == "1400-dark" { // two of four see every rule
		return
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	var raw string
	s.do(chromedp.Evaluate(s.axe+"; true", nil), chromedp.Evaluate(
		`axe.run().then(r => JSON.stringify(r.violations))`,
		&raw,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) },
	))
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		s.t.Fatal(err)
	}
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			s.t.Errorf("%s at %s: %s (%s): %s: %v", name, s.view, v.ID, v.Impact, v.Help, v.Nodes)
		}
	}
}

// focus presses Tab until the element has the focus, as a person without a mouse does.
func (s *site) focus(selector string) {
	s.t.Helper()
	for range 200 {
		s.do(chromedp.KeyEvent(kb.Tab))
		var there bool
		s.do(chromedp.Evaluate(fmt.Sprintf(`document.activeElement.matches(%q)`, selector), &there))
		if there {
			return
		}
	}
	s.t.Fatalf("Tab never comes to %s", selector)
}

// press sends keys to what has the focus, and waits for a page with another heading.
func (s *site) press(keys, heading string) {
	s.t.Helper()
	s.do(chromedp.KeyEvent(keys))
	s.heading(heading)
}

func (s *site) heading(want string) {
	s.t.Helper()
	s.until(fmt.Sprintf(`document.querySelector("h1")?.textContent === %q`, want))
}

func (s *site) until(condition string) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var is bool
		err := chromedp.Run(s.ctx, chromedp.Evaluate(condition, &is)) // fails between two pages
		if err == nil && is {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	var text string
	s.do(chromedp.Evaluate(`document.body.innerText`, &text))
	s.t.Fatalf("never: %s; the page says\n%s", condition, text)
}

// TestTheWholeWay goes from a table to a downloaded synthetic one with the keyboard alone, and
// looks at every page in two widths and in two colours.
func TestTheWholeWay(t *testing.T) {
	s := open(t)
	everywhere := func(name string) {
		t.Helper()
		for _, colours := range []string{"light", "dark"} {
			for _, width := range []int64{390, 1400} {
				s.look(width, colours)
				s.check(name)
			}
		}
		s.look(1400, "light")
	}
	s.heading("Choose a table")
	everywhere("1-table")
	s.focus(`button[aria-label="Choose patients.csv"]`)
	s.press(kb.Enter, "Describe the columns")
	everywhere("2-schema")
	s.focus("details.other summary")
	s.do(chromedp.KeyEvent(kb.Enter))
	everywhere("2-other-ways")
	s.focus(`button[value="edit"]`)
	s.do(chromedp.KeyEvent(kb.Enter))
	s.until(`document.querySelector(".edit li") !== null`)
	everywhere("2-cards")
	s.focus(`[name="3.max"]`)
	s.do(chromedp.KeyEvent("x"))
	s.until(`document.querySelector("#wrong-3-max")?.textContent.includes("number")`)
	everywhere("2-cards-wrong")
	s.focus("details.other summary")
	s.do(chromedp.KeyEvent(kb.Enter))
	s.until(`document.querySelector("#checked .good") !== null`)
	everywhere("2-editor")
	s.focus("#text")
	s.do(chromedp.KeyEvent("nonsense: 1\n"))
	s.until(`document.querySelector("#checked .bad") !== null`)
	s.check("2-editor-wrong")
	s.do(chromedp.Evaluate(`history.back()`, nil))
	s.until(`document.querySelector('form[action="/plan"]') && document.readyState === "complete"`)
	s.do(chromedp.Evaluate(`document.querySelector("details.other").open = true`, nil))
	s.focus(`form:has([name=schema]) button`)
	s.press(kb.Enter, "Plan the release")
	s.until(`document.querySelector(".figures") !== null`)
	everywhere("3-plan")
	s.focus("#epsilon")
	s.do(chromedp.KeyEvent("2")) // takes the place of what is marked
	s.until(`document.querySelector("#figures .command").textContent.includes("--epsilon=2 ")`)
	s.focus("#slider")
	s.do(chromedp.KeyEvent(kb.Home))
	s.until(`document.querySelector("#figures .command").textContent.includes("--epsilon=0.05")`)
	s.focus(`button[formaction="/run"]`)
	s.press(kb.Enter, "Making the synthetic table")
	s.check("4-run")
	s.until(`document.querySelector('#state a.main') !== null`)
	everywhere("4-done")
	s.focus("#state a.main")
	s.press(kb.Enter, "The synthetic table")
	s.until(`document.querySelector("iframe").contentDocument?.querySelector("#picture svg") != null`)
	everywhere("5-result")

	down := t.TempDir()
	s.do(
		browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).
			WithDownloadPath(down),
	)
	s.focus(`a[href^="/download"]`)
	s.do(chromedp.KeyEvent(kb.Enter))
	file := filepath.Join(down, "patients-synthetic.csv")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(got), "sapsii,sofa,") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no synthetic table was downloaded: %v", err)
		}
	}

	s.focus("button.danger")
	s.press(kb.Enter, "Comparing with the real table")
	s.until(`document.querySelector('#state a.danger') !== null`)
	s.until(`document.querySelectorAll(".verdicts dd").length === 6`)
	everywhere("5-evaluated")
	var report string
	s.do(chromedp.AttributeValue("#state a.danger", "href", &report, nil),
		chromedp.Evaluate(`location.href = document.querySelector("#state a.danger").href`, nil))
	s.until(`/not private/i.test(document.body?.innerText)`)
	everywhere("report")
	s.do(chromedp.Evaluate(`history.back()`, nil))
	s.heading("Comparing with the real table")
	s.focus("a.past")
	s.press(kb.Enter, "Runs, models and ledgers")
	everywhere("runs")

	s.focus("a.brand")
	s.press(kb.Enter, "Choose a table")
	everywhere("1-batches")
	s.focus(`a[href="/batch?batch=jobs.yaml"]`)
	s.press(kb.Enter, "Run a batch")
	everywhere("3-batch")
	s.focus("button.main")
	s.press(kb.Enter, "Running the batch")
	s.check("4-batch")
	s.until(`document.querySelectorAll(".verdicts dd").length === 12`)
	everywhere("4-batch-done")
	t.Logf("%d pages were looked at", s.pages)
}

// TestWrittenAndBought writes a schema as text, and has one bought with the run.
func TestWrittenAndBought(t *testing.T) {
	s := open(t)
	s.look(390, "light")
	s.focus(`button[aria-label="Choose patients.csv"]`)
	s.press(kb.Enter, "Describe the columns")
	s.do(chromedp.Evaluate(`[...document.querySelectorAll("button[value=edit]")].at(-1).click()`, nil))
	s.heading("Describe the columns")
	s.until(`document.querySelector("#checked .good")?.textContent.includes("3 columns")`)
	s.check("2-written")
	s.look(1400, "light")
	s.do(chromedp.Click("button.main"))
	s.heading("Plan the release")
	if _, err := os.Stat(filepath.Join(s.dir, "patients-2.yaml")); err != nil {
		t.Fatal(err)
	}

	s.do(chromedp.Click(`a[href^="/schema"]`))
	s.heading("Describe the columns")
	s.do(chromedp.Evaluate(`const f = document.querySelector('[name=unit]').form;
		f["header-is-public"].checked = true; f.querySelector("button").click()`, nil))
	s.heading("Plan the release")
	s.until(`[...document.querySelector("[name=target]").options].some(o => o.value === "mortality")`)
	s.do(chromedp.SetValue("[name=target]", "mortality"))
	s.look(390, "dark")
	s.check("3-plan-bought")
	s.do(chromedp.Click(`button[formaction="/run"]`))
	s.heading("Making the synthetic table")
	s.until(`document.querySelector('#state a.main') !== null`)
	s.do(chromedp.Click("#state a.main"))
	s.heading("The synthetic table")
	s.until(`document.body.textContent.includes("--target=mortality")`)
	s.check("5-result-bought")
}
