package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// mode is one way to misbehave.
type mode struct {
	name, does string
	change     func(s *server)
}

func modes() []mode {
	return []mode{
		{"ok", "two honest tools, up to revision 2025-11-25", func(*server) {}},
		{"ok-modern", "the same, revision 2026-07-28 only", func(s *server) { s.methods = modern() }},
		{"noise", "prints logs to stdout, first of all and before each message", noise},
		{"hang-start", "answers nothing", func(s *server) { s.methods = map[string]method{}; s.write = func([]byte) {} }},
		{"hang-list", "does not answer tools/list", silent("tools/list")},
		{"hang-call", "does not answer tools/call", silent("tools/call")},
		{"hang-discover", "does not answer server/discover, which it does not know", silent("server/discover")},
		{"die-start", "ends with status 1 before any message", func(s *server) { s.quit(1, "cannot open the database") }},
		{"die-discover", "ends on server/discover, which it does not know", dieDiscover},
		{"die-list", "ends during tools/list", dies("tools/list")},
		{"die-call", "ends during tools/call", dies("tools/call")},
		{"exit0", "ends with status 0 at once, without a word", func(s *server) { s.over = true }},
		{"key-missing", "ends with status 1 for want of a key", func(s *server) { s.quit(1, "API_KEY is not set") }},
		{"string-tool", "lists a tool that is a string", listing(func() []any { return append([]any{"read_note"}, tools()...) })},
		{"wrong-types", "lists hints of every wrong type", listing(wrongTypes)},
		{"no-tools", "answers tools/list without a list", replies("tools/list", object{})},
		{"stderr-flood", "prints 400 kB to stderr before each message", stderrFlood},
		{"notification-flood", "sends 5,000 notifications before each message", notificationFlood},
		{"ignore-eof", "goes on after the end of stdin and after SIGTERM", ignoreEOF},
		{"grandchild", "leaves a process in a session of its own, whose id it prints to stderr", grandchild},
		{"giant-line", "lists a tool with a description of 8 MiB", listing(giant)},
		{"bad-utf8", "puts bytes into texts that are no UTF-8", badUTF8},
		{"split-reply", "spreads the reply to tools/list over several lines", splitReply},
		{"cut-reply", "answers tools/list with half a message", cutReply},
		{"string-id", "gives ids back as strings", stringID},
		{"dup-reply", "sends every message twice", func(s *server) { s.write = func(m []byte) { s.line(m); s.line(m) } }},
		{"cursor-loop", "gives the same cursor for ever", cursorLoop},
		{"cursor-empty", "has a second page, whose cursor is the empty string", cursorEmpty},
		{"slow-drip", "writes every message in small pieces", slowDrip},
		{"elicit", "asks the user something during a call", elicit},
		{"elicit-modern", "the same, as revision 2026-07-28 does it", elicitModern},
		{"elicit-forever", "asks again after every answer, revision 2026-07-28", elicitForever},
	}
}

func silent(name string) func(*server) {
	return func(s *server) {
		s.methods[name] = func(*server, request) (any, *rpcError) { return nil, nil }
	}
}

func dies(name string) func(*server) {
	return func(s *server) {
		s.methods[name] = func(s *server, _ request) (any, *rpcError) {
			s.quit(3, "panic: out of notes")
			return nil, nil
		}
	}
}

func replies(name string, result object) func(*server) {
	return func(s *server) {
		s.methods[name] = func(*server, request) (any, *rpcError) { return result, nil }
	}
}

func listing(tools func() []any) func(*server) {
	return func(s *server) {
		s.methods["tools/list"] = func(*server, request) (any, *rpcError) { return object{"tools": tools()}, nil }
	}
}

func noise(s *server) {
	s.raw([]byte("torture 1.0.0 listening on stdio\n"))
	s.write = func(m []byte) {
		s.raw([]byte("[info] about to reply\n\n{\"level\":\"debug\",\"msg\":\"a log line in JSON\"}\n"))
		s.line(m)
	}
}

func dieDiscover(s *server) {
	s.methods["server/discover"] = func(s *server, r request) (any, *rpcError) {
		s.quit(1, "unexpected message before initialize: "+r.Method)
		return nil, nil
	}
}

// wrongTypes has one tool for each thing that a hint must not be.
func wrongTypes() []any {
	var all []any
	for i, wrong := range []any{"true", 1, nil, object{}, []any{}} {
		all = append(all, tool(fmt.Sprintf("wrong_%d", i), "Read a note.", object{}, object{"readOnlyHint": wrong}))
	}
	return all
}

func giant() []any {
	return []any{tool("read_note", strings.Repeat("Read all notes. ", 8<<20/16), object{}, hints(true, false, true))}
}

func stderrFlood(s *server) {
	line := strings.Repeat("x", 99) + "\n"
	s.write = func(m []byte) {
		fmt.Fprint(s.log, strings.Repeat(line, 4000))
		s.line(m)
	}
}

func notificationFlood(s *server) {
	one := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"busy"}}` + "\n"
	s.write = func(m []byte) {
		s.raw([]byte(strings.Repeat(one, 5000)))
		s.line(m)
	}
}

func ignoreEOF(s *server) {
	signal.Ignore(syscall.SIGTERM)
	s.in = bufio.NewReader(endless{s.in})
}

// endless is a stdin whose end is never seen.
type endless struct{ io.Reader }

func (e endless) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	for err != nil {
		time.Sleep(time.Second) // with select, the runtime would call it a deadlock
	}
	return n, nil
}

// sleeper is the argument that makes this program the process left behind.
const sleeper = "sleeper"

// sleep ends at last even if nobody ends it.
func sleep() int {
	time.Sleep(10 * time.Minute)
	return 0
}

func grandchild(s *server) {
	self, err := os.Executable()
	if err != nil {
		s.quit(1, err.Error())
		return
	}
	child := exec.Command(self, sleeper)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = ownSession()
	if err := child.Start(); err != nil {
		s.quit(1, err.Error())
		return
	}
	fmt.Fprintln(s.log, "grandchild", child.Process.Pid)
}

func badUTF8(s *server) {
	s.write = func(m []byte) {
		m = bytes.ReplaceAll(m, []byte("notes."), []byte("notes \xff\xfe."))
		s.line(bytes.ReplaceAll(m, []byte("appended"), []byte("app\xffended")))
	}
}

// onlyList changes how the reply to tools/list is written, and no other.
func onlyList(s *server, write func(message []byte)) {
	list := s.methods["tools/list"]
	s.methods["tools/list"] = func(s *server, r request) (any, *rpcError) {
		before := s.write
		s.write = func(m []byte) { s.write = before; write(m) }
		return list(s, r)
	}
}

func splitReply(s *server) {
	onlyList(s, func(m []byte) {
		var pretty bytes.Buffer
		_ = json.Indent(&pretty, m, "", "  ") // a buffer takes everything
		s.line(pretty.Bytes())
	})
}

func cutReply(s *server) {
	onlyList(s, func(m []byte) { s.line(m[:len(m)/2]) })
}

func stringID(s *server) {
	s.write = func(m []byte) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(m, &fields); err != nil {
			panic(err) // it was encoded just before
		}
		fields["id"], _ = json.Marshal(string(fields["id"])) // a string cannot fail
		text, _ := json.Marshal(fields)                      // nor can what was decoded
		s.line(text)
	}
}

func cursorLoop(s *server) {
	replies("tools/list", object{"tools": tools(), "nextCursor": "again"})(s)
}

func cursorEmpty(s *server) {
	s.methods["tools/list"] = func(_ *server, r request) (any, *rpcError) {
		if _, second := r.Params["cursor"]; second {
			return object{"tools": tools()[1:]}, nil
		}
		return object{"tools": tools()[:1], "nextCursor": ""}, nil
	}
}

func slowDrip(s *server) {
	s.write = func(m []byte) {
		for piece := range slices.Chunk(append(m, '\n'), 7) {
			s.raw(piece)
			time.Sleep(time.Millisecond)
		}
	}
}

// question is what the server wants to know before it appends.
var question = object{
	"mode": "form", "message": "Really append?",
	"requestedSchema": object{"type": "object", "properties": object{"sure": object{"type": "boolean"}}, "required": []string{"sure"}},
}

// elicit asks whether the client can be asked or not.
func elicit(s *server) {
	s.methods["tools/call"] = func(s *server, r request) (any, *rpcError) {
		s.send(object{"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create", "params": question})
		answer, ok := s.answerTo("ask-1")
		if !ok {
			s.quit(0, "stdin ended instead of an answer")
			return nil, nil
		}
		if !accepted(answer) {
			return failed("the user did not agree: " + string(answer)), nil
		}
		return call(s, r)
	}
}

// answerTo reads until the client's response; what else comes meanwhile is
// handled as always.
func (s *server) answerTo(id string) (json.RawMessage, bool) {
	for {
		line, err := s.in.ReadBytes('\n')
		var response struct {
			request
			Result, Error json.RawMessage
		}
		switch {
		case json.Unmarshal(line, &response) != nil:
		case response.Method != "":
			s.handle(response.request)
		case text(response.ID) == id && response.Result != nil:
			return response.Result, true
		case text(response.ID) == id:
			return response.Error, true
		}
		if err != nil {
			return nil, false
		}
	}
}

// accepted reads an elicitation's result.
func accepted(answer json.RawMessage) bool {
	var given struct {
		Action  string
		Content struct{ Sure bool }
	}
	return json.Unmarshal(answer, &given) == nil && given.Action == "accept" && given.Content.Sure
}

// asking is the stateless era's way: the result is a question.
func asking(state string) object {
	return object{
		"resultType":    "input_required",
		"requestState":  state,
		"inputRequests": object{"sure": object{"method": "elicitation/create", "params": question}},
	}
}

func elicitModern(s *server) {
	s.methods = modern()
	answer := s.methods["tools/call"]
	s.methods["tools/call"] = func(s *server, r request) (any, *rpcError) {
		responses, given := r.Params["inputResponses"]
		if !given {
			return asking("opaque 1.0"), nil
		}
		var inputs map[string]json.RawMessage
		_ = json.Unmarshal(responses, &inputs) // no answer is no agreement
		switch {
		case text(r.Params["requestState"]) != "opaque 1.0":
			return nil, &rpcError{Code: invalidParams, Message: "requestState is not what was sent"}
		case !accepted(inputs["sure"]):
			return failed("the user did not agree: " + string(inputs["sure"])), nil
		}
		return answer(s, r)
	}
}

func elicitForever(s *server) {
	s.methods = modern()
	s.methods["tools/call"] = func(*server, request) (any, *rpcError) { return asking("again"), nil }
}
