package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ax-check/ax-check/internal/hint"
)

// call is one tools/call of a test.
type call struct {
	Tool      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func (c call) line(t *testing.T) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": c})
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// result is a reply as a client reads it.
type result struct {
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
	Error *rpcError
}

// process makes the calls in one process over dir, lets all late work finish,
// and gives the replies and the number of look-ups outside.
func process(t *testing.T, dir string, calls ...call) (replies []result, lookups int) {
	t.Helper()
	var in, out bytes.Buffer
	for _, c := range calls {
		in.WriteString(c.line(t) + "\n")
	}
	offline := func(context.Context, string) ([]string, error) {
		lookups++
		return nil, errors.New("no network")
	}
	if err := serve(t.Context(), &in, &out, dir, offline); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&out)
	for decoder.More() {
		var r result
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	if len(replies) != len(calls) {
		t.Fatalf("%d replies to %d calls", len(replies), len(calls))
	}
	return replies, lookups
}

// files reads everything below dir, except the server's log.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == logFile {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// keeps reports whether everything that was there before still is.
func keeps(before, after map[string]string) bool {
	for name, old := range before {
		fresh, ok := after[name]
		if !ok {
			return false
		}
		var a, b any
		if json.Unmarshal([]byte(old), &a) == nil && json.Unmarshal([]byte(fresh), &b) == nil {
			if !keepsValue(a, b) {
				return false
			}
		} else if !strings.HasPrefix(fresh, old) {
			return false
		}
	}
	return true
}

func keepsValue(before, after any) bool {
	switch old := before.(type) {
	case map[string]any:
		fresh, ok := after.(map[string]any)
		for key := range old {
			if _, kept := fresh[key]; !ok || !kept || !keepsValue(old[key], fresh[key]) {
				return false
			}
		}
		return ok
	case []any:
		fresh, ok := after.([]any)
		if !ok || len(fresh) < len(old) {
			return false
		}
		for i := range old {
			if !keepsValue(old[i], fresh[i]) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(before, after)
	}
}

// samples are arguments that make each tool show what it does: the first of
// its kind that a planner takes from the schema, and the ones at the edges.
var samples = map[string][]map[string]any{
	"list_bookings":     {{}, {"status": "cancelled"}},
	"get_booking":       {{"booking_id": "B-1001"}, {"booking_id": "B-1"}},
	"cancel_booking":    {{"booking_id": "B-1001"}, {"booking_id": "B-1003"}, {"booking_id": "B-1"}},
	"move_booking":      {{"booking_id": "B-1001", "arrival": "2027-09-01"}, {"booking_id": "B-1", "arrival": "2027-09-01"}},
	"add_note":          {{"booking_id": "B-1001", "text": "asked for a quiet room"}, {"booking_id": "B-1", "text": "x"}},
	"add_contact":       {{"contact_id": "carla", "name": "Carla Reed"}, {"contact_id": "ana", "name": "Carla Reed", "phone": "555-0103"}},
	"list_contacts":     {{}},
	"search_bookings":   {{"query": "harbour"}, {"query": "nobody"}},
	"quote_room_change": {{"booking_id": "B-1001", "room": "harbour"}, {"booking_id": "B-1001", "room": "attic"}, {"booking_id": "B-1002", "room": "library"}, {"booking_id": "B-1", "room": "library"}},
	"create_booking":    {{"guest": "Carla Reed", "room": "harbour", "arrival": "2027-10-05"}, {"guest": "Carla Reed", "room": "attic", "arrival": "2027-10-05", "nights": 3}},
	"queue_reminder":    {{"booking_id": "B-1001", "message": "your room is ready"}, {"booking_id": "B-1", "message": "x"}},
	"remove_contact":    {{"contact_id": "ana"}, {"contact_id": "nobody"}},
	"get_exchange_rate": {{"currency": "SEK"}},
}

// behaviour watches a tool over all its samples, each in worlds of its own.
func behaviour(t *testing.T, name string) map[hint.Name]bool {
	t.Helper()
	seen := map[hint.Name]bool{hint.ReadOnly: true, hint.Destructive: false, hint.Idempotent: true, hint.OpenWorld: false}
	for _, sample := range samples[name] {
		c := call{name, sample}
		world := t.TempDir()
		process(t, world)
		start := files(t, world)

		_, lookups := process(t, world, c)
		once := files(t, world)
		process(t, world, c)
		restarted := files(t, world)

		sameProcess := t.TempDir()
		process(t, sameProcess, c, c)
		twice := files(t, sameProcess)

		seen[hint.ReadOnly] = seen[hint.ReadOnly] && cmp.Equal(start, once)
		seen[hint.Destructive] = seen[hint.Destructive] || !keeps(start, once)
		seen[hint.Idempotent] = seen[hint.Idempotent] && cmp.Equal(once, restarted) && cmp.Equal(once, twice)
		seen[hint.OpenWorld] = seen[hint.OpenWorld] || lookups > 0
	}
	return seen
}

func TestToolsDoWhatTheTruthSays(t *testing.T) {
	for _, tool := range tools() {
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			want := map[hint.Name]bool{}
			for _, fact := range Truth() {
				if fact.Tool == tool.name {
					want[fact.Hint] = fact.Actual
				}
			}
			if len(samples[tool.name]) == 0 {
				t.Fatal("the tool has no samples")
			}
			if diff := cmp.Diff(want, behaviour(t, tool.name)); diff != "" {
				t.Errorf("truth (-) and behaviour (+) differ:\n%s", diff)
			}
		})
	}
}

func TestLies(t *testing.T) {
	var got []string
	for _, fact := range Truth() {
		if fact.Lie() {
			got = append(got, fact.Tool+" "+string(fact.Hint))
		}
	}
	want := []string{
		"search_bookings readOnlyHint",
		"quote_room_change readOnlyHint",
		"create_booking idempotentHint",
		"queue_reminder idempotentHint",
		"remove_contact destructiveHint",
		"get_exchange_rate openWorldHint",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReminderIsQueuedOnceAProcess(t *testing.T) {
	c := call{"queue_reminder", map[string]any{"booking_id": "B-1001", "message": "hello"}}
	world := t.TempDir()
	process(t, world, c, c, c)
	once := files(t, world)[outboxFile]
	process(t, world, c)
	if got := strings.Count(files(t, world)[outboxFile], "hello"); strings.Count(once, "hello") != 1 || got != 2 {
		t.Errorf("one process queued %q; %d in the queue after a restart, want 2", once, got)
	}
}

func TestFailingQuoteLeavesItsHold(t *testing.T) {
	world := t.TempDir()
	replies, _ := process(t, world, call{"quote_room_change", map[string]any{"booking_id": "B-1001", "room": "harbour"}})
	if !replies[0].Result.IsError {
		t.Errorf("the quote did not fail: %+v", replies[0])
	}
	if _, ok := files(t, world)["holds/harbour-B-1001.json"]; !ok {
		t.Error("the failed quote left no hold")
	}
}

func TestRemovedContactStaysRemovedAfterRestart(t *testing.T) {
	world := t.TempDir()
	process(t, world, call{"remove_contact", map[string]any{"contact_id": "ana"}}, call{"remove_contact", map[string]any{"contact_id": "bo"}})
	replies, _ := process(t, world, call{"list_contacts", map[string]any{}})
	if got := replies[0].Result.Content[0].Text; !strings.HasPrefix(got, "0 contact(s)") {
		t.Errorf("after the restart: %s", got)
	}
}

func TestServerFindsTheSeedOrLaysIt(t *testing.T) {
	empty, seeded := t.TempDir(), t.TempDir()
	if err := os.CopyFS(seeded, Seed()); err != nil {
		t.Fatal(err)
	}
	want := files(t, seeded)
	process(t, empty)
	process(t, seeded)
	if diff := cmp.Diff(want, files(t, empty)); diff != "" {
		t.Errorf("laid into an empty folder: %s", diff)
	}
	if diff := cmp.Diff(want, files(t, seeded)); diff != "" {
		t.Errorf("changed by starting: %s", diff)
	}
	if err := fstest.TestFS(Seed(), bookingsFile, "contacts/ana.json", logFile); err != nil {
		t.Error(err)
	}
}

func TestStartingTouchesNoForeignFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, notesFile), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	process(t, dir)
	if got := files(t, dir)[notesFile]; got != "mine" {
		t.Errorf("notes now say %q", got)
	}
}

// watch is an output that notes what the log held when each reply was written.
type watch struct {
	bytes.Buffer
	log  string
	seen []int
}

func (w *watch) Write(p []byte) (int, error) {
	content, _ := os.ReadFile(w.log)
	w.seen = append(w.seen, bytes.Count(content, []byte("tools/call")))
	return w.Buffer.Write(p)
}

func TestEveryCallIsLoggedAfterItsReply(t *testing.T) {
	dir := t.TempDir()
	out := &watch{log: filepath.Join(dir, logFile)}
	calls := []call{
		{"list_bookings", map[string]any{}},
		{"no_such_tool", map[string]any{}},
		{"get_booking", map[string]any{"wrong": true}},
	}
	var in strings.Builder
	for _, c := range calls {
		in.WriteString(c.line(t) + "\n")
	}
	if err := Serve(t.Context(), strings.NewReader(in.String()), out, dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, out.seen); diff != "" {
		t.Errorf("log lines when each reply went out: %s", diff)
	}
	log, _ := os.ReadFile(out.log)
	for _, c := range calls {
		if !strings.Contains(string(log), `"`+c.Tool+`"`) {
			t.Errorf("%s is not in the log:\n%s", c.Tool, log)
		}
	}
}

func TestHistoryIsWrittenOnlyAfterTheReply(t *testing.T) {
	dir := t.TempDir()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), in, out, dir) }()

	if _, err := io.WriteString(toServer, call{"search_bookings", map[string]any{"query": "cot"}}.line(t)+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(fromServer).Decode(&result{}); err != nil {
		t.Fatal(err)
	}
	replied := time.Now()
	if history := files(t, dir)[historyFile]; strings.Contains(history, "cot") && time.Since(replied) < lateBy/2 {
		t.Error("the history was written before the reply")
	}
	toServer.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if history := files(t, dir)[historyFile]; !strings.Contains(history, "cot") {
		t.Errorf("the history never came: %s", history)
	}
	if took := time.Since(replied); took < lateBy/2 {
		t.Errorf("the server ended after %v, before the history was due", took)
	}
}

func TestCancelledServerDropsLateWork(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	defer toServer.Close()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, in, out, dir) }()

	if _, err := io.WriteString(toServer, call{"search_bookings", map[string]any{"query": "cot"}}.line(t)+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(fromServer).Decode(&result{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve ended with %v", err)
	}
	if history := files(t, dir)[historyFile]; strings.Contains(history, "cot") {
		t.Error("late work ran after the cancellation")
	}
}

func TestProtocol(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{
			"initialize answers with its own revision", `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05"}}`,
			`{"jsonrpc":"2.0","id":"a","result":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"ax-check-demo","version":"1"}}}`,
		},
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"a notification gets no answer", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"a response gets no answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{
			"discover is not known, so that clients fall back", `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{}}`,
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no such method: server/discover"}}`,
		},
		{"no JSON", `{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC message"}}`},
		{
			"unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool: x"}}`,
		},
		{
			"a call without params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the params are not those of tools/call"}}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := Serve(t.Context(), strings.NewReader(test.in+"\n"), &out, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.TrimSuffix(out.String(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessageThatIsTooLongEndsTheServer(t *testing.T) {
	in := strings.NewReader(strings.Repeat("x", maxLine+1))
	if err := Serve(t.Context(), in, io.Discard, t.TempDir()); err == nil {
		t.Error("no error")
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	tests := []struct {
		name string
		call call
		want string
	}{
		{"missing", call{"get_booking", nil}, `the argument "booking_id" is missing`},
		{"unknown", call{"list_contacts", map[string]any{"b": 1, "a": 1}}, `the argument "a" is not known`},
		{"wrong type", call{"get_booking", map[string]any{"booking_id": 1}}, `the argument "booking_id" must be a string`},
		{"outside the enum", call{"get_exchange_rate", map[string]any{"currency": "XXX"}}, `the argument "currency" must be one of SEK, USD, EUR`},
		{"a path for an id", call{"remove_contact", map[string]any{"contact_id": "../x"}}, `the argument "contact_id" must match ^[a-z][a-z0-9-]{0,30}$`},
		{"no date", call{"move_booking", map[string]any{"booking_id": "B-1001", "arrival": "soon"}}, `the argument "arrival" must be a date like 2027-03-14`},
		{
			"no nights",
			call{"create_booking", map[string]any{"guest": "A", "room": "attic", "arrival": "2027-01-01", "nights": 0}},
			`the argument "nights" must be an integer from 1 up`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			process(t, dir)
			before := files(t, dir)
			replies, _ := process(t, dir, test.call)
			r := replies[0].Result
			if !r.IsError || len(r.Content) != 1 || r.Content[0].Text != test.want {
				t.Errorf("got %+v, want the error %q", r, test.want)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Errorf("a rejected call changed: %s", diff)
			}
		})
	}
}
