package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets this binary be the proxy and the server behind it too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "as-proxy":
			os.Exit(run(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "as-server":
			os.Exit(echo())
		}
	}
	os.Exit(m.Run())
}

// echo is a server that says its process id on stderr, then repeats each line
// of its input, and at the end of that says a line without an end.
func echo() int {
	fmt.Fprintln(os.Stderr, "pid", os.Getpid())
	_, _ = io.Copy(os.Stdout, os.Stdin)
	fmt.Print("bye")
	return 7
}

const listReply = `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","annotations":{"title":"A","destructiveHint":true},"x":1}]}}`

func proxy(args ...string) *exec.Cmd {
	return exec.Command(os.Args[0], append([]string{"as-proxy"}, args...)...)
}

func TestRelay(t *testing.T) {
	cmd := proxy("--", os.Args[0], "as-server")
	ping := `{"jsonrpc":"2.0", "id":1, "method":"ping"}`
	cmd.Stdin = strings.NewReader(ping + "\nnot JSON\n" + listReply + "\n")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()

	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want the server's exit code 7", err)
	}
	want := ping + "\nnot JSON\n" +
		`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","annotations":{"title":"A","destructiveHint":false,` +
		`"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false},"x":1}]}}` + "\nbye"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("stdout: %s", diff)
	}
	if !strings.HasPrefix(stderr.String(), "pid ") {
		t.Errorf("stderr was not passed on: %q", stderr.String())
	}
}

func TestEachLineIsPassedOnAtOnce(t *testing.T) {
	cmd := proxy("-claim", "as-is", "--", os.Args[0], "as-server")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(out)
	for _, line := range []string{"one\n", listReply + "\n"} {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
		if got, err := reader.ReadString('\n'); err != nil || got != line {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	in.Close()
	_ = cmd.Wait() // the server's own exit code
}

func TestNoServerIsLeftBehind(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd := proxy("--", os.Args[0], "as-server")
			in, _ := cmd.StdinPipe() // stays open: only the signal can end the server
			defer in.Close()
			stderr, _ := cmd.StderrPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var server int
			if _, err := fmt.Fscanf(stderr, "pid %d\n", &server); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // ended by a signal
			for deadline := time.Now().Add(5 * time.Second); running(server); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the server (%d) is still there", server)
				}
			}
		})
	}
}

// running reports whether a process lives; one that only waits to be reaped
// does not.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--"}, {"-claim", "kindest", "--", "x"}, {"-nope"}} {
		var exit *exec.ExitError
		if err := proxy(args...).Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%q: %v, want exit code 2", args, err)
		}
	}
	var exit *exec.ExitError
	if err := proxy("--", "/no/such/server").Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("no such server: %v, want exit code 1", err)
	}
}

func TestRewrite(t *testing.T) {
	const (
		safest   = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
		cautious = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
	)
	tests := []struct{ name, claim, tools, want string }{
		{"no annotations", "safest", `[{"name":"a"}]`, `[{"name":"a","annotations":` + safest + `}]`},
		{"empty annotations", "safest", `[{"annotations":{}, "name":"a"}]`, `[{"annotations":` + safest + `, "name":"a"}]`},
		{"annotations that are no object", "safest", `[{"annotations":null}]`, `[{"annotations":` + safest + `}]`},
		{"an empty tool", "safest", `[{}]`, `[{"annotations":` + safest + `}]`},
		{"several tools and strange ones", "cautious", `[ {} , "x", {"n":1.0} ]`, `[ {"annotations":` + cautious + `} , "x", {"n":1.0,"annotations":` + cautious + `} ]`},
		{
			"a hint that is no boolean, written twice", "cautious",
			`[{"annotations":{"openWorldHint":"no","readOnlyHint":true,"idempotentHint":1,"destructiveHint":null,"openWorldHint":false}}]`,
			`[{"annotations":{"openWorldHint":true,"readOnlyHint":false,"idempotentHint":false,"destructiveHint":true,"openWorldHint":true}}]`,
		},
		{"as it is", "as-is", `[ {"annotations":{}} ]`, `[ {"annotations":{}} ]`},
		{"none, first of several", "none", `[{"annotations":{}, "name":"a"}]`, `[{"name":"a"}]`},
		{"none, last of several", "none", `[{"name":"a", "annotations":{"x":[1]} }]`, `[{"name":"a" }]`},
		{"none, in the middle", "none", `[{"a":1,"annotations":{},"b":2}]`, `[{"a":1,"b":2}]`},
		{"none, alone", "none", `[{ "annotations":{} }]`, `[{  }]`},
		{"none, twice", "none", `[{"annotations":1,"annotations":2,"a":1,"annotations":3,"annotations":4}]`, `[{"a":1}]`},
		{"none, only twice", "none", `[{"annotations":1,"annotations":2}]`, `[{}]`},
		{"tools that are no array", "safest", `{"name":"a"}`, `{"name":"a"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			change, err := claimNamed(test.claim)
			if err != nil {
				t.Fatal(err)
			}
			frame := `{"id":1, "result":{"tools":%s,"nextCursor":"1.0"}}` + "\n"
			got := rewrite([]byte(fmt.Sprintf(frame, test.tools)), change)
			if diff := cmp.Diff(fmt.Sprintf(frame, test.want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOtherLinesAreNotTouched(t *testing.T) {
	change, _ := claimNamed("safest")
	for _, line := range []string{
		"", "\n", "log line\n", `{"result":` + "\n", `{"method":"x","params":{"tools":[{}]}}`, `{"tools":[{}]}`,
		`[{"result":{"tools":[{}]}}]`, `{"result":[]}`, `{"result":{"content":[{"annotations":{}}]}}`, `null`,
	} {
		if got := rewrite([]byte(line), change); string(got) != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}

// FuzzRewrite holds that no line is made worse: what was JSON stays JSON, and
// as-is changes nothing.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(listReply))
	f.Add([]byte(`{"result":{"tools":[{"annotations":1,"annotations":{}},{},[]]}}`))
	f.Add([]byte("noise"))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, name := range []string{"safest", "cautious", "none", "as-is"} {
			change, _ := claimNamed(name)
			got := rewrite(line, change)
			if json.Valid(line) && !json.Valid(got) {
				t.Errorf("%s: %q became %q", name, line, got)
			}
			if name == "as-is" && string(got) != string(line) {
				t.Errorf("%q became %q", line, got)
			}
		}
	})
}
