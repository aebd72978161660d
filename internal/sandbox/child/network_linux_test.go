package child

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

func query(t testing.TB, name string, response bool) []byte {
	t.Helper()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4711, RecursionDesired: true, Response: response},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeAAAA, Class: dnsmessage.ClassINET}},
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

func TestAnswersThatThereIsNoSuchName(t *testing.T) {
	var reply dnsmessage.Message
	if err := reply.Unpack(answer(query(t, "sandbox.localhost.", false))); err != nil {
		t.Fatal(err)
	}
	want := dnsmessage.Header{ID: 4711, Response: true, RecursionDesired: true, RecursionAvailable: true, RCode: dnsmessage.RCodeNameError}
	if diff := cmp.Diff(want, reply.Header); diff != "" {
		t.Error(diff)
	}
	if len(reply.Questions) != 1 || len(reply.Answers) != 0 {
		t.Errorf("%d questions and %d answers, want the question back", len(reply.Questions), len(reply.Answers))
	}
	if got := answer(query(t, "sandbox.localhost.", true)); got != nil {
		t.Error("a reply is answered: two such servers would never end")
	}
}

func TestOwnName(t *testing.T) {
	for name, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "a.localhost": true, "sandbox": true, "1.0.0.127.in-addr.arpa": true, "": true,
		"example.test": false, "localhost.test": false, "notlocalhost": false, "mysandbox": false,
	} {
		if got := ownName(name); got != want {
			t.Errorf("ownName(%q) = %v", name, got)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(query(f, "localhost.", false))
	f.Add([]byte{0, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, packet []byte) {
		reply := answer(packet)
		if reply == nil {
			return
		}
		var parser dnsmessage.Parser
		if header, err := parser.Start(reply); err != nil || !header.Response || header.RCode != dnsmessage.RCodeNameError {
			t.Errorf("%x is answered with %+v (%v)", packet, header, err)
		}
	})
}
