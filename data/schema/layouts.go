package schema

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// dayLayouts are the layouts of days besides those of two orders and of the table of forms: those
// with zeros before numbers first, as others read them too.
var dayLayouts = []string{"2006/01/02", "2006.01.02", "2006/1/2", "2006-1-2", "02.01.2006",
	"2.1.2006", "02.01.06", "2.1.06", "02 Jan 2006", "2 Jan 2006", "02-Jan-2006", "2-Jan-2006",
	"02-Jan-06", "2-Jan-06", "02 Jan 06", "02Jan2006", "02JAN2006", "02-JAN-2006", "02-JAN-06",
	"02 JAN 2006", "January 02, 2006", "January 2, 2006", "Jan 02, 2006", "Jan 2, 2006",
	"02 January 2006", "2 January 2006", "2. January 2006", "Jan-02-2006", "02/Jan/2006",
	"2006-Jan-02", "Monday, January 2, 2006", "Mon, 02 Jan 2006", "Mon 02 Jan 2006",
	"Mon Jan 02 2006", "Monday, 2. January 2006"}

// spokenLayouts are those with months of other languages than English, and spokenMonths those of
// months, of languages in which a month alone has the name that it has in a date.
var (
	spokenLayouts = []string{"02 January 2006", "2 January 2006", "02. January 2006",
		"2. January 2006", "2 de January de 2006", "02 Jan 2006", "2 Jan 2006", "02. Jan. 2006",
		"2 Jan. 2006", "02-Jan-2006", "2-Jan-2006", "02-Jan-06", "2-Jan-06", "02/Jan/2006", "02Jan2006",
		"02-JAN-2006", "02-JAN-06", "02 JAN 2006", "02JAN2006"}
	spokenMonths = []string{"January 2006", "Jan 2006", "Jan-06", "Jan-2006"}
)

// twoOrders are layouts that have the day first, and the same with the month first.
var twoOrders = [][2]string{{"02/01/2006", "01/02/2006"}, {"2/1/2006", "1/2/2006"},
	{"02-01-2006", "01-02-2006"}, {"2-1-2006", "1-2-2006"}, {"02/01/06", "01/02/06"},
	{"2/1/06", "1/2/06"}, {"02-01-06", "01-02-06"}}

// The times of day that stand behind a day, and alone.
var timeLayouts = []string{"15:04", "15:04:05", "H:04", "03:04 PM", "3:04 PM", "03:04:05 PM",
	"3:04:05 PM", "03:04PM", "3:04PM", "03:04 pm", "3:04 pm", "15h04", "15:04:05.000", "15:04:05,000",
	"15:04:05.000000"}

// zonedLayouts are instants whose cells say how far they are from UTC.
var zonedLayouts = []string{"2006-01-02T15:04:05-07:00", "2006-01-02 15:04:05-07:00",
	"2006-01-02T15:04-07:00", "2006-01-02T15:04:05.000-07:00", "2006-01-02T15:04:05-0700",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05-07"}

// dayForm is how a form of days is told from others.
type dayForm struct {
	format    string
	also, not string
}

// daysOf are the forms of days, those of two orders by what tells these apart.
func daysOf() (out []dayForm) {
	for _, l := range dayLayouts {
		out = append(out, dayForm{format: l})
	}
	for _, l := range spokenLayouts {
		for _, m := range months {
			out = append(out, dayForm{format: withTag(l, m.language)})
		}
	}
	for _, l := range twoOrders {
		out = append(out, dayForm{l[0], "", l[1]}, dayForm{l[1], "", l[0]}, dayForm{l[0], l[1], ""})
	}
	return out
}

// moreMoments are the forms of days, instants, times of day, durations and periods that are
// generated.
func moreMoments() (out []form) {
	add := func(kind Kind, days ...dayForm) {
		for _, d := range days {
			out = append(out, d.form(kind))
		}
	}
	add(Date, daysOf()...)
	for _, d := range append([]dayForm{{format: dateFormat}}, daysOf()...) {
		for _, behind := range d.times() {
			add(Timestamp, d.with(behind))
		}
	}
	for _, l := range zonedLayouts {
		for _, tag := range slices.Sorted(maps.Keys(zones)) {
			if strings.HasSuffix(l, "-07") && !strings.HasSuffix(tag, ":00") {
				continue
			}
			add(Timestamp, dayForm{format: withTag(l, tag)})
		}
	}
	of := func(kind Kind, layouts ...string) {
		for _, l := range layouts {
			if kind.facts().layout(l) != nil {
				add(kind, dayForm{format: l})
			}
		}
	}
	of(Timestamp, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.000Z07:00",
		"2006-01-02T15:04:05.000000Z07:00", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04 UTC",
		"20060102T150405Z", "20060102T150405", "20060102 150405", "20060102 15:04",
		"20060102 15:04:05")
	of(Time, timeLayouts...)
	of(Duration, "h:mm", durationFormat)
	of(Period, append(quarterFormats, weekFormat, monthFormat, "01/2006", "1/2006",
		"2006/01")...)
	for _, l := range spokenMonths {
		add(Period, dayForm{format: l})
		for _, m := range months {
			if !slices.Contains([]string{"pl", "ru", "uk"}, m.language) {
				add(Period, dayForm{format: withTag(l, m.language)})
			}
		}
	}
	return out
}

// times are the times of day, with what parts them from the day, that instants of a layout have
// behind it, but for those of the table.
func (d dayForm) times() (out []string) {
	layout, tag := tagged(d.format)
	iso, named := layout == dateFormat, strings.Contains(strings.ToUpper(layout), "JAN")
	for _, l := range timeLayouts {
		plain := len(l) <= len("03:04 PM") && l[1] != 'h' && !strings.HasSuffix(l, "4PM")
		switch {
		case tag != "":
			if l == "15:04" || l == "15:04:05" {
				out = append(out, " "+l, ", "+l)
			}
		case iso:
			out = append(out, " "+l, "T"+l)
		case named && plain:
			out = append(out, " "+l, ", "+l)
		case !named && !strings.ContainsAny(l, ".,h"):
			out = append(out, " "+l, ", "+l)
		}
	}
	return slices.DeleteFunc(out, func(l string) bool { return iso && l[1:] == "15:04:05" })
}

// with is a form of a day with a time behind it.
func (d dayForm) with(behind string) dayForm {
	grow := func(format string) string {
		layout, tag := tagged(format)
		if layout == "" {
			return ""
		}
		return withTag(layout+behind, tag)
	}
	return dayForm{grow(d.format), grow(d.also), grow(d.not)}
}

// otherwise is what cells of a layout may be in a column with others of that kind.
var otherwise = map[string][]Written{"15:04": {{Duration, "h:mm"}}, "H:04": {{Duration, "h:mm"}},
	"15:04:05": {{Duration, ""}}}

// form is the form of values of a kind in the layout.
func (d dayForm) form(kind Kind) form {
	f := form{name: kind.facts().name + " " + d.format, kind: kind, rare: true,
		reading: newReading(d.format), also: newReading(d.also), not: newReading(d.not)}
	if d.also != "" {
		f.name += " or " + d.also
	}
	if kind == Time {
		f.otherwise = otherwise[d.format]
	}
	return f
}

// newReading is that of cells in a format. Instants that say their zone are read in all of the
// default layouts.
func newReading(format string) reading {
	wider := unpadded(format)
	if layout, tag := tagged(format); zones[tag] != nil && slices.Contains(zonedLayouts[:2], layout) ||
		strings.HasSuffix(layout, "0Z07:00") {
		wider = timestampFormat
	}
	return reading{format, wider}
}

// shapes are what texts of a kind in a layout look like, each letter and digit alike:
// 00.00.0000 00:00. They are those of days, hours and numbers of one digit and of more.
func shapes(f *facts, n *notation) (out []string) {
	samples := []int64{5, 10*60 + 5, 100*60 + 5, 10 * 3600, 100 * 3600} // minutes or seconds
	if f.unit > 0 {
		samples = nil
		for _, t := range []time.Time{
			time.Date(2001, 2, 3, 4, 5, 6, 7e6, time.UTC), time.Date(2001, 2, 13, 17, 5, 6, 0, time.UTC),
			time.Date(2001, 12, 3, 4, 5, 6, 0, time.UTC), time.Date(2001, 12, 13, 4, 5, 6, 0, time.UTC),
			time.Date(2001, 2, 13, 4, 5, 6, 0, time.UTC), time.Date(2001, 12, 3, 22, 5, 6, 0, time.UTC),
			time.Date(2001, 2, 3, 22, 5, 6, 0, time.UTC), time.Date(2001, 12, 13, 22, 5, 6, 0, time.UTC),
		} {
			samples = append(samples, t.UnixMicro()/f.unit)
		}
	}
	for _, x := range samples {
		text := n.print(nil, Value{Int: x}, wholeDigits)
		if s := string(shapeOf(nil, text)); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// longestShape is that of the longest text that has one of the layouts, and more.
const longestShape = 48

// shapeOf appends what a text looks like: its digits as 0, and each run of letters as one.
func shapeOf(dst, text []byte) []byte {
	for _, b := range text {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
		switch {
		case b >= '0' && b <= '9':
			dst = append(dst, '0')
		case letter && len(dst) > 0 && dst[len(dst)-1] == 'a':
		case letter:
			dst = append(dst, 'a')
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// writes reports whether a text is a value in a layout, as the layout writes it.
func (n *notation) writes(f *facts, text []byte) bool {
	x, ok := n.parse(text)
	if !ok || f.wrong(x) != "" {
		return false
	}
	var dst [longestShape]byte
	return bytes.Equal(n.print(dst[:0], Value{Int: int64(x)}, wholeDigits), text)
}

// unpadded is a layout that reads numbers with and without a zero before them, and months of any
// language.
func unpadded(format string) string {
	layout, _ := tagged(format)
	if !strings.ContainsAny(layout, ":-/., J") || layout == monthFormat {
		return layout
	}
	return strings.NewReplacer("2006", "2006", "02", "2", "01", "1", "03", "3", "15:", "H:").
		Replace(layout)
}

// finder finds the generated form of a text.
type finder struct {
	numbers map[key]Class
	padded  map[int]Class // by width
	shapes  map[string][]candidate
}

// candidate is a form that a text of its shape may have.
type candidate struct {
	class      Class
	facts      *facts
	takes, not *notation
}

var generated = sync.OnceValue(newFinder)

func newFinder() *finder {
	g := &finder{map[key]Class{}, map[int]Class{}, map[string][]candidate{}}
	for i := len(table); i < len(forms()); i++ {
		f := &forms()[i]
		if f.key != nil {
			g.numbers[*f.key] = Class(i)
			continue
		}
		if isPadding(f.name) {
			g.padded[len(f.name)] = Class(i)
			continue
		}
		c := candidate{class: Class(i), facts: f.kind.facts()}
		c.takes = c.facts.layout(f.format)
		if f.not.format != "" {
			c.not = c.facts.layout(f.not.format)
		}
		for _, s := range shapes(c.facts, c.takes) {
			g.shapes[s] = append(g.shapes[s], c)
		}
	}
	return g
}

// of is the generated form that takes a text, by that alone; false if none does.
func (g *finder) of(text []byte) (Class, bool) {
	if n, ok := scan(text); ok {
		class, ok := g.numbers[n.key()]
		return class, ok
	}
	if len(text) > longestShape || len(text) < leastWidth {
		return 0, false
	}
	if text[0] == '0' && len(bytes.TrimLeft(text, "0123456789")) == 0 {
		class, ok := g.padded[len(text)]
		return class, ok
	}
	var shape [longestShape]byte
	for _, c := range g.shapes[string(shapeOf(shape[:0], text))] {
		if c.takes.writes(c.facts, text) && (c.not == nil || !c.not.writes(c.facts, text)) {
			return c.class, true
		}
	}
	return 0, false
}
