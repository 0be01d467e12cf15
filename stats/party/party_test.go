package party

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// meeting is what some parties need to meet on this machine.
type meeting struct {
	parties *Parties
	keys    []ed25519.PrivateKey
	method  synth.Fitter
}

// methods are mst, and a small wgan, whose run has the messages of mst's and two gradients more.
func methods(t *testing.T) map[string]synth.Fitter {
	t.Helper()
	tree := stattest.Must(synth.Checked(&synth.MST{}))
	small := stattest.Must(
		synth.Checked(&synth.WGAN{Steps: 2, DistilSteps: 5, GeneratorSteps: 2, PostSteps: 5,
			Hidden: []int{4}}))
	return map[string]synth.Fitter{"mst": tree, "wgan": small}
}

func newMeeting(t *testing.T, n int) *meeting {
	t.Helper()
	free := stattest.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer free.Close()
	m := &meeting{parties: &Parties{Address: free.Addr().String(), Colluding: 1, PerPerson: 1},
		method: methods(t)["mst"]}
	for i := range n {
		pem := stattest.Must(NewKey())
		key := stattest.Must(ParseKey(pem))
		m.keys = append(m.keys, key)
		m.parties.Parties = append(m.parties.Parties, member{fmt.Sprint("house", i), Public(key)})
	}
	return m
}

func lenient(columns int) *schema.Schema {
	s := *synthtest.Schema(columns)
	s.Lenient = true
	return &s
}

func (m *meeting) options(i int) Options {
	return Options{Parties: m.parties, Key: m.keys[i], Schema: lenient(4), Method: m.method,
		Budget: accountant.Budget{Epsilon: 5, Delta: 1e-6}, Adjacency: accountant.AddRemove,
		Tool: "test", Wait: 8 * time.Second}
}

// fit takes part as party i, with a limit of the ledger if there is one.
func (m *meeting) fit(t *testing.T, i int, link *Link, file *ledger.File) (*release.Model, error) {
	rows := privacy.FromTable(synthtest.Table(t, synthtest.Schema(4), 100+50*i))
	model, _, err := synth.Run(context.Background(), rows, Fitter{link}, synth.RunOptions{
		Options: privacy.Options{Budget: m.options(i).Budget, Tool: "test", Ledger: file}})
	link.End(err)
	return model, err
}

// together has every party meet and fit; join, if not nil, is how party 2 does it.
func (m *meeting) together(
	t *testing.T, join func() (*release.Model, error),
) (models []*release.Model, errs []error) {
	models, errs = make([]*release.Model, len(m.keys)), make([]error, len(m.keys))
	var all sync.WaitGroup
	for i := range m.keys {
		all.Go(func() {
			if i == 2 && join != nil {
				models[i], errs[i] = join()
				return
			}
			link, err := Meet(context.Background(), m.options(i))
			if errs[i] = err; err == nil {
				models[i], errs[i] = m.fit(t, i, link, nil)
			}
		})
	}
	all.Wait()
	return models, errs
}

// TestRuns: five parties end with the same model, each with its own account, and it holds.
func TestRuns(t *testing.T) {
	for name, method := range methods(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			five := newMeeting(t, 5)
			five.method = method
			runs(t, five)
		})
	}
}

func runs(t *testing.T, five *meeting) {
	models, errs := five.together(t, nil)
	accounts := map[string]bool{}
	for i, m := range models {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if m.Parameters != models[0].Parameters {
			t.Errorf("party %d has another model", i)
		}
		stattest.Passes(t, stattest.Err(m.Verify(nil)), "")
		accounts[m.Ledger[1].Run] = true
		if got := m.Rows; got < 900 || got > 1100 { // of 1000
			t.Errorf("%v rows", got)
		}
	}
	if len(accounts) != 5 {
		t.Errorf("the accounts are of %d runs", len(accounts))
	}
	if got := fmt.Sprint(models[0].Claim); !strings.Contains(got,
		"if nobody is at two parties and no more than 1 of the 5 parties collude") {
		t.Errorf("the claim is %s", got)
	}
}

// rogue does something else in the place of one message.
type rogue struct {
	net.Conn
	at     int
	do     func(c net.Conn, message, before []byte)
	before []byte
}

func (r *rogue) Write(b []byte) (int, error) {
	if r.at--; r.at == -1 {
		r.do(r.Conn, b, r.before)
		return len(b), nil
	}
	r.before = bytes.Clone(b)
	return r.Conn.Write(b)
}

// TestEveryMessage: whatever a party sends in the place of one of its messages, or if it dies
// there, nobody has a result, and all are told whose fault it was.
func TestEveryMessage(t *testing.T) {
	small := methods(t)["wgan"]
	framed := func(b string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	for name, do := range map[string]func(c net.Conn, message, before []byte){
		"dies":    func(c net.Conn, _, _ []byte) { c.Close() },
		"replays": func(c net.Conn, m, before []byte) { c.Write(append(before, m...)) },
		"skips": func(c net.Conn, m, _ []byte) {
			c.Write(framed(strings.Replace(string(m[4:]), `"Step":`, `"Step":1`, 1)))
		},
		"calls it something else": func(c net.Conn, m, _ []byte) {
			c.Write(framed(strings.Replace(string(m[4:]), `"Kind":"`, `"Kind":"x`, 1)))
		},
		"sends other bytes": func(c net.Conn, m, _ []byte) {
			c.Write(framed(strings.Replace(string(m[4:]), `"Data":"`, `"Data":"AAAA`, 1)))
		},
		"sends junk": func(c net.Conn, _, _ []byte) { c.Write(framed("]")); c.Close() },
		"announces too much": func(c net.Conn, _, _ []byte) {
			c.Write([]byte{255, 255, 255, 255})
		},
	} {
		for step, kind := range []string{kindTerms, kindKey, kindSignature, kindShare, kindShare,
			kindShare, kindShare, kindShare, kindModel} {
			if name == "replays" && step == 0 || kind == kindShare && step > 3 && name != "dies" {
				continue // there is none before; or it is as the first share
			}
			t.Run(fmt.Sprintf("%s %d %s", name, step, kind), func(t *testing.T) {
				t.Parallel()
				m := newMeeting(t, 3)
				m.method = small
				models, errs := m.together(t, func() (*release.Model, error) {
					l := &Link{o: m.options(2), me: 2, done: make(chan struct{})}
					close(l.done)
					c, err := l.dial(context.Background())
					if err != nil {
						return nil, err
					}
					l.conn = &rogue{Conn: c, at: step, do: do}
					if err := l.compare(); err != nil {
						l.End(err)
						return nil, err
					}
					return m.fit(t, 2, l, nil)
				})
				for i := range 2 {
					if models[i] != nil || errs[i] == nil {
						t.Errorf("party %d has a result", i)
					}
					blamed := strings.Contains(fmt.Sprint(errs[i]), "house2") ||
						strings.Contains(fmt.Sprint(errs[i]), "party 3")
					if !blamed && name != "sends other bytes" {
						t.Errorf("party %d: %v", i, errs[i])
					}
				}
			})
		}
	}
}

// TestAnswers: an answer that is not to the message is none.
func TestAnswers(t *testing.T) {
	m := newMeeting(t, 2)
	for name, answer := range map[string]message{
		"of a step before": {Step: 3, Kind: kindKey, List: make([][]byte, 2)},
		"of another kind":  {Step: 4, Kind: kindTerms, List: make([][]byte, 2)},
		"of one party":     {Step: 4, Kind: kindKey, List: make([][]byte, 1)},
		"that it is over":  {Step: 4, Kind: kindEnd, Why: "x\x1b[31m"},
	} {
		mine, other := net.Pipe()
		go func() {
			read(other, time.Minute, maxFrame)
			write(other, answer)
		}()
		l := &Link{o: m.options(1), me: 1, conn: mine, step: 4}
		if _, err := l.all(kindKey, nil); !errors.Is(err, errEnded) ||
			strings.Contains(err.Error(), "\x1b") {
			t.Errorf("an answer %s: %v", name, err)
		}
		stattest.Wraps(t, stattest.Err(l.all(kindKey, nil)), errEnded, "after an answer %s", name)
	}
}

// TestMeet: parties that have something else in mind do not begin.
func TestMeet(t *testing.T) {
	meet := func(m *meeting, change func(o *Options)) (errs [2]error) {
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				o := m.options(i)
				o.Wait = 3 * time.Second
				if i == 1 {
					change(&o)
				}
				l, err := Meet(context.Background(), o)
				if errs[i] = err; err == nil {
					l.End(nil)
				}
			})
		}
		all.Wait()
		return errs
	}
	stranger, all := newMeeting(t, 2), methods(t)
	other := stattest.Must(synth.Checked(&synth.MST{GroupSigmas: 3}))
	for name, tt := range map[string]struct {
		change func(o *Options)
		want   string // of party 0
	}{
		"method":      {func(o *Options) { o.Method = all["wgan"] }, "another method"},
		"setting":     {func(o *Options) { o.Method = other }, "another method, or other settings"},
		"schema":      {func(o *Options) { o.Schema = lenient(3) }, "another schema"},
		"budget":      {func(o *Options) { o.Budget.Epsilon = 4 }, "another budget"},
		"relation":    {func(o *Options) { o.Adjacency = accountant.ReplaceOne }, "another neigh"},
		"program":     {func(o *Options) { o.Tool = "other" }, "another version of the program"},
		"others":      {func(o *Options) { o.Parties.Parties[0].Name = "x" }, "another list"},
		"trust":       {func(o *Options) { o.Parties.Colluding = 7 }, "another number of coll"},
		"persons":     {func(o *Options) { o.Parties.PerPerson = 2 }, "another number of parties per"},
		"no such key": {func(o *Options) { o.Key = stranger.keys[0] }, "house1 did not come"},
		"another adds": {func(o *Options) {
			o.Parties.Parties[0] = stranger.parties.Parties[0]
		}, "house1 did"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeeting(t, 2)
			errs := meet(m, func(o *Options) {
				own := *o.Parties
				own.Parties = append([]member(nil), own.Parties...)
				o.Parties = &own
				tt.change(o)
			})
			if !strings.Contains(fmt.Sprint(errs[0]), tt.want) || errs[1] == nil {
				t.Errorf("%v\n%v", errs[0], errs[1])
			}
		})
	}
}

// TestMethods: methods and settings whose sums do not add up are refused at once.
func TestMethods(t *testing.T) {
	refused := map[string]synth.Fitter{}
	for name, c := range map[string]synth.WGAN{"a sample": {Rate: .5}, "clipped": {Mode: "ball"},
		"interpolates": {Lipschitz: "interpolates"}, "graphs": {Engine: "gorgonia"},
		"target": {Target: "c0"}, "steps": {Steps: 101}} {
		f := stattest.Must(synth.Checked(&c))
		refused[name] = f
	}
	var err error
	if refused["aim"], err = synth.Checked(&synth.AIM{}); err != nil {
		t.Fatal(err)
	}
	for name, f := range refused {
		o := newMeeting(t, 2).options(0)
		o.Method = f
		stattest.Wraps(t, stattest.Err(Meet(context.Background(), o)), synth.ErrConfig, "%s", name)
	}
}

// TestStranger: a connection with a key that is none of the parties' is not let in.
func TestStranger(t *testing.T) {
	m, other := newMeeting(t, 2), newMeeting(t, 2)
	done := make(chan error)
	go func() {
		_, err := Meet(context.Background(), m.options(0))
		done <- err
	}()
	o := m.options(1)
	o.Key = other.keys[1]
	o.Wait = 2 * time.Second
	l := &Link{o: o, me: 1, done: make(chan struct{})}
	c, err := l.dial(context.Background())
	if err == nil { // TLS 1.3 says no after the client's part is done
		stattest.Fails(t, stattest.Err(read(c, 5*time.Second, maxShort)), "a stranger is answered")
	}
	link, err := Meet(context.Background(), m.options(1))
	if err != nil || <-done != nil {
		t.Fatalf("after a stranger: %v", err)
	}
	link.End(errors.New("over"))
}

// TestParse: files of parties, and keys.
func TestParse(t *testing.T) {
	m := newMeeting(t, 2)
	a, b := m.parties.Parties[0].Key, m.parties.Parties[1].Key
	good := fmt.Sprintf("address: h:1\nparties:\n- {name: a, key: %s}\n- {name: b, key: %s}\n", a, b)
	p, err := Parse([]byte(good))
	if err != nil || p.Colluding != 1 || p.PerPerson != 1 ||
		p.find(m.keys[1].Public().(ed25519.PublicKey)) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	for name, text := range map[string]string{
		"empty":          "",
		"no address":     strings.Replace(good, "address: h:1\n", "", 1),
		"no port":        strings.Replace(good, "h:1", "h", 1),
		"an unknown key": good + "colour: red\n",
		"two documents":  good + "---\n" + good,
		"one party":      strings.Split(good, "- {name: b")[0],
		"the same key":   strings.Replace(good, b, a, 1),
		"the same name":  strings.Replace(good, "name: b", "name: a", 1),
		"no name":        strings.Replace(good, "name: b, ", "", 1),
		"half a key":     strings.Replace(good, b, b[:20], 1),
		"no trust":       good + "colluding: 0\n",
		"no other":       good + "colluding: 2\n",
		"nobody":         good + "per_person: 0\n",
		"everywhere":     good + "per_person: 3\n",
	} {
		stattest.Wraps(t, stattest.Err(Parse([]byte(text))), ErrFile, "%s", name)
	}
	const broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	for _, text := range []string{"", good, broken} {
		stattest.Wraps(t, stattest.Err(ParseKey([]byte(text))), ErrFile, "%q", text)
	}
}
