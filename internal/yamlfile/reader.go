package yamlfile

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/spelling"
)

// A Reader reads nodes and reports everything that is wrong with them.
type Reader struct {
	Report func(line int, text string) // required
	// says what is wrong with an unknown key, of which known could stand there; nil: it names the
	// nearest, or all
	Unknown func(key string, known []string) string
}

// A Special type reads itself: a file may write it in several ways, or its keys are free. Key is
// where it stands, as "jobs.3.settings".
type Special interface {
	FromYAML(r Reader, n *yaml.Node, key string)
}

// Fields gives the values of keys and values by key. Keys that are not known, or there twice, are
// reported, and so is a node of another kind; key says where it stands.
func (r Reader) Fields(n *yaml.Node, key string, known []string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.Report(n.Line, strings.TrimPrefix(fmt.Sprintf("%s: want keys (%s), not %s", key,
			strings.Join(known, ", "), Kind(n)), ": "))
		return values
	}
	r.Pairs(n, key, func(k, v *yaml.Node) {
		name := k.Value
		if slices.Contains(known, name) {
			values[name] = v
			return
		}
		above, below, dotted := strings.Cut(name, ".")
		switch near := spelling.Hint(name, known); {
		case dotted && slices.Contains(known, above):
			r.Report(k.Line, fmt.Sprintf("key %s has a dot: write %s: {%s: ...}", Quote(name), above, below))
		case r.Unknown != nil:
			r.Report(k.Line, r.Unknown(name, known))
		default:
			r.Report(k.Line, fmt.Sprintf("unknown key %s%s", Quote(name),
				cmp.Or(near, "; there is "+strings.Join(known, ", "))))
		}
	})
	return values
}

// Pairs calls do with the keys and values of a node, in the order of the file; a key that is there
// twice, or is not a text, is reported.
func (r Reader) Pairs(n *yaml.Node, key string, do func(k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.Report(n.Line, key+" must hold lines of key: value, not "+Kind(n))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.Report(k.Line, "a key must be a text, not "+Kind(k))
		} else if first := lines[k.Value]; first > 0 {
			r.Report(k.Line, fmt.Sprintf("key %s is there twice (also in line %d)", Quote(k.Value), first))
		} else if _, err := strconv.Atoi(k.Value); err == nil && i > 0 && Open(v) {
			r.Report(k.Line, fmt.Sprintf("%s: %s,%s has a comma; a decimal point is meant: %[2]s.%[3]s",
				n.Content[i-2].Value, n.Content[i-1].Value, k.Value))
		} else {
			lines[k.Value] = k.Line
			do(k, v)
		}
	}
}

// null reports null, ~ and a key without a value.
func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Open reports a key without a value.
func Open(n *yaml.Node) bool { return null(n) && n.Value == "" }

// Read reads a file into what dst points to: [Reader.Document], then [Reader.Decode].
func (r Reader) Read(text []byte, what, example string, dst any) {
	if root := r.Document(text, what, example); root != nil {
		r.Decode(root, "", dst)
	}
}

// Decode reads a node into what dst points to: a struct whose fields have yaml tags, a list, a
// text, a number, true or false, a pointer to one of them, which null leaves nil, or
// a [Special].
// What is not in the file stays as it is. Key is where the node stands, "" for the whole file.
func (r Reader) Decode(n *yaml.Node, key string, dst any) {
	if own, ok := dst.(Special); ok {
		own.FromYAML(r, n, key)
		return
	}
	var err error
	v := reflect.ValueOf(dst).Elem()
	switch v.Kind() {
	case reflect.Struct:
		r.fields(n, key, v)
	case reflect.Pointer:
		if null(n) && !Open(n) { // it says that there is none
			break
		}
		v.Set(reflect.New(v.Type().Elem()))
		r.Decode(n, key, v.Interface())
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			err = fmt.Errorf("must be a list, not %s", Kind(n))
			break
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			r.Decode(item, fmt.Sprint(key, ".", i), v.Index(i).Addr().Interface())
		}
	case reflect.String:
		err = set(v.SetString, n, String)
	case reflect.Bool:
		err = set(v.SetBool, n, Truth)
	case reflect.Float64:
		err = set(v.SetFloat, n, Number)
	case reflect.Int:
		err = set(v.SetInt, n, func(n *yaml.Node) (int64, error) { return Whole(n, 64) })
	case reflect.Uint64:
		err = set(v.SetUint, n, Natural)
	default:
		panic("yamlfile: no values of type " + v.Type().String())
	}
	if err != nil {
		r.Report(n.Line, key+" "+err.Error())
	}
}

func set[T any](to func(T), n *yaml.Node, read func(*yaml.Node) (T, error)) error {
	x, err := read(n)
	to(x)
	return err
}

// fields reads the fields of a struct.
func (r Reader) fields(n *yaml.Node, key string, v reflect.Value) {
	values := r.Fields(n, key, keysOf(v.Type()))
	for _, f := range reflect.VisibleFields(v.Type()) {
		name := f.Tag.Get("yaml")
		if value := values[name]; value != nil {
			r.Decode(value, strings.Trim(key+"."+name, "."), v.FieldByIndex(f.Index).Addr().Interface())
		}
	}
}

// keysOf lists the yaml tags of the fields of a struct, and of those that it embeds.
func keysOf(t reflect.Type) (keys []string) {
	for _, f := range reflect.VisibleFields(t) {
		if key := f.Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
