package serve

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// card is a column of a schema as a form.
type card struct {
	Table string            // of linked ones
	Keys  map[string]string // of the file: texts; of a list a line each; missing is "yes"
	Wrong map[string]string // by key, what the schema's own checks say
}

// edited are the keys that a card has fields for.
var edited = strings.Fields("kind categories min max missing after")

// belongs are the keys, besides some that go with any change, that no column of a kind has.
var belongs = map[string]string{"categorical": "min max bins after ",
	"boolean": "categories min max bins after "}

// columns calls f with each column of a text that should be a schema, and the table of linked ones.
// Those of which it says so are left out of the text that is returned.
func columns(text string, f func(table string, column *yaml.Node) (out bool)) string {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return text
	}
	for in := slices.Clone(doc.Content); len(in) > 0; in = in[1:] {
		table := cardOf("", in[0]).Keys["name"]
		for i := 1; i < len(in[0].Content); i += 2 {
			switch value := in[0].Content[i]; in[0].Content[i-1].Value {
			case "columns":
				value.Content = slices.DeleteFunc(value.Content, func(column *yaml.Node) bool {
					return f(table, column)
				})
			case "tables":
				in = append(in, value.Content...)
			}
		}
	}
	out, _ := yaml.Marshal(&doc) // which was read: that cannot fail
	return string(out)
}

// cardOf is a column as its file has it.
func cardOf(table string, column *yaml.Node) *card {
	all, c := map[string]yaml.Node{}, &card{table, map[string]string{}, map[string]string{}}
	column.Decode(&all)
	for key, value := range all {
		for _, item := range value.Content {
			value.Value += "\n" + item.Value
		}
		c.Keys[key] = strings.TrimPrefix(value.Value, "\n")
	}
	if ends := all["edges"].Content; len(ends) > 0 {
		c.Keys["min"], c.Keys["max"] = ends[0].Value, ends[len(ends)-1].Value
	}
	if all["missing"].Kind != 0 {
		c.Keys["missing"] = "yes"
	}
	return c
}

// place puts what is wrong with a schema beside the fields that it is about. Rest is of no column.
func place(cards []*card, problem string) (rest string) {
	for said := range strings.Lines(problem) {
		what := ""
		at := slices.IndexFunc(cards, func(c *card) (is bool) {
			_, what, is = strings.Cut(said, fmt.Sprintf("column %q: ", c.Keys["name"]))
			return is && (c.Table == "" || strings.Contains(said, fmt.Sprintf("table %q, ", c.Table)))
		})
		if at < 0 {
			rest += said
			continue
		}
		k := slices.IndexFunc(edited, func(k string) bool { return strings.Contains(what, k) })
		key := edited[max(k, 0)]
		cards[at].Wrong[key] += strings.TrimPrefix(what, key+": ")
	}
	return rest
}

// edit is the text of a form, with what its cards say in place of what the text says.
func edit(form url.Values) string {
	value := func(name string) string { return strings.ReplaceAll(form.Get(name), "\r\n", "\n") }
	if form.Get("cards") == "" {
		return value("text") + "\n"
	}
	at := -1
	return columns(value("text"), func(_ string, column *yaml.Node) bool {
		at++
		before, gone := cardOf("", column).Keys, ""
		if kind := value(fmt.Sprint(at, ".kind")); kind != before["kind"] { // what belongs to it goes
			gone = cmp.Or(belongs[kind], "categories ") + "edges other on_invalid decimals format "
		}
		for key := range strings.FieldsSeq(gone) {
			set(column, key, "")
		}
		before = cardOf("", column).Keys
		for _, key := range edited {
			now := value(fmt.Sprint(at, ".", key))
			if now != before[key] && !strings.Contains(gone, key+" ") {
				set(column, key, now)
			}
		}
		return form.Get(fmt.Sprint(at, ".ignore")) != ""
	})
}

// less compares numbers, or dates.
func less(a, b *yaml.Node) bool {
	var x, y float64
	if a.Decode(&x) != nil || b.Decode(&y) != nil {
		return a.Value < b.Value
	}
	return x < y
}

// set writes a key of a column; "" takes it away. Bounds of a column with edges are the outer ones:
// a new one takes the edges with it that are not within.
func set(column *yaml.Node, key, text string) {
	for i := len(column.Content) - 2; i >= 0; i -= 2 {
		ends, end := column.Content[i+1].Content, &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		switch name := column.Content[i].Value; {
		case name == "edges" && len(ends) > 1 && key == "min":
			ends = slices.DeleteFunc(ends[1:], func(e *yaml.Node) bool { return !less(end, e) })
			column.Content[i+1].Content, text = slices.Insert(ends, 0, end), ""
		case name == "edges" && len(ends) > 1 && key == "max":
			ends = slices.DeleteFunc(ends[:len(ends)-1], func(e *yaml.Node) bool { return !less(e, end) })
			column.Content[i+1].Content, text = append(ends, end), ""
		case name == key:
			column.Content = slices.Delete(column.Content, i, i+2)
		}
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.TrimSpace(text)}
	lists := map[string][]string{"categories": strings.Split(text, "\n"), "missing": {""}}
	if list := lists[key]; list != nil {
		value.Encode(list)
		value.Style = yaml.FlowStyle
	}
	if text != "" {
		column.Content = append(column.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
}
