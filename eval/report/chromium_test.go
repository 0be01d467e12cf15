package report

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// browser runs headless Chromium on a page and returns what it prints: the page as it stands, and
// the log with the console's messages.
func browser(t *testing.T, page string, args ...string) (dom, log string) {
	t.Helper()
	var name string
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(n); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		t.Skip("no Chromium on this machine: the page was not looked at in a browser")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name,
		append(args, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
			"--enable-logging=stderr", "--v=0", "--user-data-dir="+t.TempDir(), "file://"+page)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Skipf("Chromium is installed but does not run here (%v): the page was not looked at in "+
			"a browser", err)
	}
	return out.String(), errs.String()
}

func writePage(t *testing.T, r *Report, extra string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	stattest.Check(t, r.HTML(&b))
	stattest.Check(t, os.WriteFile(path, append(b.Bytes(), extra...), 0o600))
	return path
}

// forbidden is a script at the end of a page, of which the console must tell that the policy does
// not let it run: so it would tell of others.
const forbidden = `<script>document.title="owned"</script>`

var console = regexp.MustCompile(`(?m)^.*CONSOLE.*$`)

// TestPageInBrowser renders a report full of hostile names, in the light and in the dark.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the page is not looked at in a browser")
	}
	page := writePage(t, hostileReport(t), "")
	dom, log := browser(t, writePage(t, hostileReport(t), forbidden), "--dump-dom")
	if found := console.FindAllString(log, -1); len(found) != 1 {
		t.Errorf("the console says %q, want one message, about the forbidden script", found)
	}
	dom, _, _ = strings.Cut(dom, forbidden)
	if strings.Contains(dom, "<script") || strings.Contains(dom, "<img") ||
		!strings.Contains(dom, "<title>Synthetic data report</title>") {
		t.Error("a hostile name became an element, or the title changed")
	}
	if n, m := strings.Count(dom, "<svg"), strings.Count(dom, "</svg>"); n < 15 || n != m {
		t.Errorf("%d drawings begin and %d end", n, m)
	}
	for _, id := range []string{"columns", "associations", "prediction", "rare", "nearest",
		"distances", "metrics", "notes"} {
		if !strings.Contains(dom, fmt.Sprintf(" id=%q>", id)) {
			t.Errorf("no section %s", id)
		}
	}
	shades := map[string]uint32{}
	for _, mode := range []string{"light", "dark"} {
		shot := filepath.Join(t.TempDir(), "page.png")
		args := []string{"--screenshot=" + shot, "--window-size=1200,900"}
		if mode == "dark" {
			args = append(args, "--blink-settings=preferredColorScheme=0")
		}
		browser(t, page, args...)
		f := stattest.Must(os.Open(shot))
		img, err := png.Decode(f)
		f.Close()
		stattest.Check(t, err)
		colours := map[[3]uint32]bool{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		if len(colours) < 50 {
			t.Errorf("%s: the page has %d colours: it is blank", mode, len(colours))
		}
		_, shades[mode], _, _ = img.At(5, 600).RGBA()
	}
	if shades["light"] < 4*shades["dark"] {
		t.Errorf("the margin is %v: no dark form", shades)
	}
}

// TestNarrow: no page is wider than a narrow window, whatever long words are in it, and a table of
// moments is wholly seen in a wide one.
func TestNarrow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the page is not looked at in a browser")
	}
	word := strings.Repeat("0123456789abcdef", 8)
	moment := "2023-01-01 00:00:00"
	numbers := "<div class=scroll><table class=numbers><tr><th>discharged</th><td>9.12 %</td>" +
		"<td>0.025</td>" + strings.Repeat("<td><span>"+moment+"</span><span>"+moment+"</span></td>", 5) +
		"<td><span>" + moment + " – " + moment + "</span></td></tr></table></div>"
	attacked := "<div class=scroll><table class=narrow><tr><th>leave-two-unlabelled</th><td>2,008 " +
		"of the 2,208 surest, 98.46 %</td><td>88.08 %</td><td>3.703</td><th>right</th></tr></table>"
	frames := ""
	for width, body := range map[int]string{390: "<p>" + word + "</p>", 1400: numbers,
		391: attacked} {
		frames += fmt.Sprintf(`<iframe style="width:%dpx;border:0" srcdoc="%s"></iframe>`, width,
			html.EscapeString(fmt.Sprintf("<style>%s</style><main>%s</main>", pageStyle, body)))
	}
	path := filepath.Join(t.TempDir(), "page.html")
	stattest.Check(t, os.WriteFile(path, []byte(frames+`<script>onload = () => {
			document.title = [...document.querySelectorAll("iframe")].map(f => {
				const e = f.contentDocument.querySelector(".scroll") ?? f.contentDocument.documentElement;
				return e.scrollWidth > e.clientWidth ? "wide" : "fits"; }).join() }</script>`),
		0o600))
	if dom, _ := browser(t, path, "--window-size=1500,900", "--dump-dom"); !strings.Contains(dom,
		"<title>fits,fits,fits") {
		t.Errorf("a page or a table is cut off: %.200s", dom)
	}
}
