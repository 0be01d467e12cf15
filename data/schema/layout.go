package schema

import (
	"slices"
	"strings"
)

// strftime has the codes of strftime in Go layouts; %% becomes a NUL for the while.
var strftime = strings.NewReplacer("%Y", "2006", "%y", "06", "%m", "01", "%d", "02", "%b", "Jan",
	"%B", "January", "%a", "Mon", "%A", "Monday", "%j", "002", "%H", "15", "%I", "03", "%M", "04",
	"%S", "05", "%p", "PM", "%f", "000000", "%z", "-0700", "%T", "15:04:05", "%F", "2006-01-02",
	"%%", "\x00")

// letters has the runs of letters of patterns such as DD/MM/YYYY hh:mm:ss, in lower case. What mm
// means depends on whether an hour is before it.
var letters = map[string]string{
	"yyyy": "2006", "yy": "06", "mm": "01", "m": "1", "mmm": "Jan", "mmmm": "January", "dd": "02",
	"d": "2", "hh": "15", "h": "H", "ss": "05", "t": "T", "z": "Z07:00", "de": "de",
}

// parting is between the layouts of a column that has several: the first is written, all are read.
const parting = " or "

// goLayout turns a pattern of dates or times into a Go layout: DD/MM/YYYY, dd.MM.yyyy HH:mm:ss,
// %d/%m/%Y. A Go layout, which has digits, stays as it is, and so do the formats of numbers,
// durations and periods, what is named behind a pattern ([de], [+02:00], [15m]), and what parts
// several. False for what it does not understand.
func goLayout(pattern string) (layout string, ok bool) {
	if first, rest, several := strings.Cut(pattern, parting); several {
		a, ok := goLayout(first)
		b, all := goLayout(rest)
		return a + parting + b, ok && all
	}
	pattern, tag := tagged(pattern)
	if !isTag(tag) {
		return "", false
	}
	if layout, ok = plainLayout(pattern); !ok {
		return "", false
	}
	return withTag(layout, tag), true
}

// plainLayout is goLayout for one pattern, without what may be behind it.
func plainLayout(pattern string) (layout string, ok bool) {
	switch {
	case numbers(pattern) != nil, durations(pattern) != nil, slices.Contains(quarterFormats, pattern),
		pattern == weekFormat:
		return pattern, true
	case strings.Contains(pattern, "%"):
		layout = strftime.Replace(pattern)
		return strings.ReplaceAll(layout, "\x00", "%"), !strings.Contains(layout, "%")
	case strings.ContainsAny(pattern, "0123456789") || pattern == "":
		return pattern, pattern != ""
	}
	var b strings.Builder
	hour := false
	for lower := strings.ToLower(pattern); lower != ""; {
		n := 1
		for n < len(lower) && lower[n] == lower[0] {
			n++
		}
		if strings.HasPrefix(lower, "de ") { // 2 de enero
			n = 2
		}
		run := lower[:n]
		text, known := letters[run]
		switch {
		case run == "mm" && hour:
			text = "04"
		case !known && run[0] >= 'a' && run[0] <= 'z' || run[0] >= 0x80:
			return "", false
		case !known:
			text = run
		}
		hour = hour || run[0] == 'h'
		b.WriteString(text)
		lower = lower[n:]
	}
	return b.String(), true
}

// spelled names a Go layout in the letters of a pattern, for those who do not know such layouts.
func spelled(layout string) string {
	return strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "January", "MMMM", "Jan", "MMM",
		"JAN", "MMM", "15", "hh", "H:", "h:", "04", "mm", "05", "ss", "Z07:00", "Z",
		"-07:00", "+hh:mm", "-0700", "+hhmm").Replace(layout)
}

// oneOf is the notation of cells in any of several layouts, of which the first is written; nil if
// one of them is none.
func (f *facts) oneOf(layouts []string) *notation {
	var all []*notation
	for _, l := range layouts {
		n := f.layout(l)
		if n == nil {
			return nil
		}
		all = append(all, n)
	}
	return &notation{print: all[0].print,
		parse: func(cell []byte) (float64, bool) {
			for _, n := range all {
				if x, ok := n.parse(cell); ok {
					return x, true
				}
			}
			return 0, false
		},
		sql: func(e SQL, text string) string {
			reads := each(all, func(n *notation) string { return n.sql(e, text) })
			if slices.Contains(reads, "") {
				return ""
			}
			return "COALESCE(" + strings.Join(reads, ", ") + ")"
		}}
}
