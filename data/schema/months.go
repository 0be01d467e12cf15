package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// months are the names of months by language, long ones and short ones, as they stand in dates:
// those of the Unicode Common Locale Data Repository, without the points behind short ones. Those
// of English are package time's, and "lower" is English in lower case.
var months = []struct{ language, long, short string }{
	{"lower", "january february march april may june july august september october november december",
		"jan feb mar apr may jun jul aug sep oct nov dec"},
	{"de", "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		"Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez"},
	{"fr", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"janv févr mars avr mai juin juil août sept oct nov déc"},
	{"es", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"ene feb mar abr may jun jul ago sep oct nov dic"},
	{"it", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre " +
		"dicembre", "gen feb mar apr mag giu lug ago set ott nov dic"},
	{"pt", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		"jan fev mar abr mai jun jul ago set out nov dez"},
	{"nl", "januari februari maart april mei juni juli augustus september oktober november december",
		"jan feb mrt apr mei jun jul aug sep okt nov dec"},
	{"pl", "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października " +
		"listopada grudnia", "sty lut mar kwi maj cze lip sie wrz paź lis gru"},
	{"ro", "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie " +
		"decembrie", "ian feb mar apr mai iun iul aug sept oct nov dec"},
	{"ru", "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
		"янв фев мар апр май июн июл авг сен окт ноя дек"},
	{"uk", "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
		"січ лют бер кві тра чер лип сер вер жов лис гру"},
}

// monthNames are those of a language, from January.
type monthNames struct{ long, short []string }

// monthsOf has the names of each language, "" being English.
var monthsOf = func() map[string]monthNames {
	var english monthNames
	for m := time.January; m <= time.December; m++ {
		english.long = append(english.long, m.String())
		english.short = append(english.short, m.String()[:len("Jan")])
	}
	of := map[string]monthNames{"": english}
	for _, m := range months {
		of[m.language] = monthNames{strings.Fields(m.long), strings.Fields(m.short)}
	}
	return of
}()

// monthOf has the month of each name, in lower case. None means another in another language.
var monthOf = sync.OnceValue(func() map[string]time.Month {
	all := map[string]time.Month{}
	for _, names := range monthsOf {
		for i := range names.long {
			m := time.January + time.Month(i)
			all[strings.ToLower(names.long[i])], all[strings.ToLower(names.short[i])] = m, m
		}
	}
	return all
})

// zones are the offsets from UTC in use, by their text.
var zones = func() map[string]*time.Location {
	all := map[string]*time.Location{}
	add := func(minutes int) {
		zone := time.FixedZone("", 60*minutes)
		all[time.Unix(0, 0).In(zone).Format("-07:00")] = zone
	}
	for hour := -12; hour <= 14; hour++ {
		add(60 * hour)
	}
	for _, minutes := range []int{-210, -150, 210, 270, 330, 345, 390, 570} {
		add(minutes)
	}
	return all
}()

// tagged parts a format from what is named behind it: a language, an offset, a grid.
func tagged(format string) (layout, tag string) {
	rest, found := strings.CutSuffix(format, "]")
	at := strings.LastIndex(rest, " [")
	if !found || at < 0 {
		return format, ""
	}
	return rest[:at], rest[at+len(" ["):]
}

// withTag is a format with one thing more behind it.
func withTag(format, tag string) string {
	if format == "" || tag == "" {
		return format
	}
	layout, before := tagged(format)
	return layout + " [" + strings.TrimSpace(before+" "+tag) + "]"
}

// isTag reports whether what is named behind a format is known.
func isTag(tag string) bool {
	for _, word := range strings.Fields(tag) {
		if monthsOf[word].long == nil && zones[word] == nil && gridOf("x ["+word+"]") == 0 {
			return false
		}
	}
	return true
}

// timeLayout is a layout of package time, with what that does not have: months in capitals (JAN)
// and of other languages, hours without a zero before them (H:04), and the offset of what is
// written. The language and the offset are named behind it: 02 Jan 2006 [de],
// 2006-01-02T15:04:05-07:00 [+02:00].
type timeLayout struct {
	plain  string // of package time
	pieces []piece
	month  int // the length of the name of a month; 0: none
	names  monthNames
	zone   *time.Location
}

// piece is a part of a layout: a word, or one of package time.
type piece struct {
	layout string
	word   func(n monthNames, t time.Time) string
}

// layoutWords are what is written otherwise than package time does.
var layoutWords = []struct {
	text, plain string
	word        func(n monthNames, t time.Time) string
}{
	{"January", "January", func(n monthNames, t time.Time) string { return n.long[t.Month()-1] }},
	{"JAN", "Jan", func(n monthNames, t time.Time) string {
		return strings.ToUpper(n.short[t.Month()-1])
	}},
	{"Jan", "Jan", func(n monthNames, t time.Time) string { return n.short[t.Month()-1] }},
	{"H:", "15:", func(_ monthNames, t time.Time) string { return strconv.Itoa(t.Hour()) + ":" }},
}

// newTimeLayout understands a format.
func newTimeLayout(format string) *timeLayout {
	rest, tag := tagged(format)
	l := &timeLayout{names: monthsOf[""], zone: time.UTC}
	for _, word := range strings.Fields(tag) {
		if names, ok := monthsOf[word]; ok {
			l.names = names
		}
		if zone := zones[word]; zone != nil {
			l.zone = zone
		}
	}
	for rest != "" {
		at, next := len(rest), -1
		for i, w := range layoutWords {
			if found := strings.Index(rest, w.text); found >= 0 && found < at {
				at, next = found, i
			}
		}
		if at > 0 {
			l.pieces, l.plain = append(l.pieces, piece{layout: rest[:at]}), l.plain+rest[:at]
		}
		if rest = rest[at:]; next >= 0 {
			w := layoutWords[next]
			l.pieces, l.plain = append(l.pieces, piece{word: w.word}), l.plain+w.plain
			rest = rest[len(w.text):]
			if w.plain[0] == 'J' {
				l.month = len(w.plain)
			}
		}
	}
	return l
}

// parse reads a text; a month may be of any language.
func (l *timeLayout) parse(text []byte) (t time.Time, ok bool) {
	if l.month > 0 && len(text) <= maxNumberText {
		text = l.inEnglish(text)
	}
	return parseIn(l.plain, text, l.zone)
}

// inEnglish is a text with the month in English.
func (l *timeLayout) inEnglish(text []byte) []byte {
	for from := 0; from < len(text); {
		letter := func(r rune) bool { return unicode.IsLetter(r) }
		start := bytes.IndexFunc(text[from:], letter)
		if start < 0 {
			break
		}
		start += from
		end := len(text)
		if n := bytes.IndexFunc(text[start:], func(r rune) bool { return !letter(r) }); n >= 0 {
			end = start + n
		}
		if m, ok := monthOf()[strings.ToLower(string(text[start:end]))]; ok {
			name := m.String()
			if l.month < len("January") {
				name = name[:l.month]
			}
			return slices.Concat(text[:start], []byte(name), text[end:])
		}
		from = end
	}
	return text
}

// print appends a time.
func (l *timeLayout) print(dst []byte, t time.Time) []byte {
	t = t.In(l.zone)
	for _, p := range l.pieces {
		if p.word != nil {
			dst = append(dst, p.word(l.names, t)...)
		} else {
			dst = t.AppendFormat(dst, p.layout)
		}
	}
	return dst
}
