package schema

import "strings"

// strftime has the codes of strftime in Go layouts; %% becomes a NUL for the while.
var strftime = strings.NewReplacer("%Y", "2006", "%y", "06", "%m", "01", "%d", "02", "%b", "Jan",
	"%B", "January", "%a", "Mon", "%A", "Monday", "%j", "002", "%H", "15", "%I", "03", "%M", "04",
	"%S", "05", "%p", "PM", "%f", "000000", "%z", "-0700", "%T", "15:04:05", "%F", "2006-01-02",
	"%%", "\x00")

// letters has the runs of letters of patterns such as DD/MM/YYYY hh:mm:ss, in lower case. What mm
// means depends on whether an hour is before it.
var letters = map[string]string{
	"yyyy": "2006", "yy": "06", "mm": "01", "m": "1", "mmm": "Jan", "dd": "02", "d": "2",
	"hh": "15", "ss": "05", "t": "T", "z": "Z07:00",
}

// goLayout turns a date pattern into a Go layout: DD/MM/YYYY, dd.MM.yyyy HH:mm:ss, %d/%m/%Y; a Go
// layout, which has digits, stays as it is. False for what it does not understand.
func goLayout(pattern string) (layout string, ok bool) {
	switch {
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
		hour = hour || run == "hh"
		b.WriteString(text)
		lower = lower[n:]
	}
	return b.String(), true
}

// spelled names a Go layout in the letters of a pattern, for those who do not know such layouts.
func spelled(layout string) string {
	return strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "Jan", "MMM", "15", "hh",
		"04", "mm", "05", "ss", "Z07:00", "Z").Replace(layout)
}
