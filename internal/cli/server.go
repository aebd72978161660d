package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os/exec"
	"time"

	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/process"
	"github.com/ax-check/ax-check/internal/rule"
	"github.com/ax-check/ax-check/internal/rules"
	"github.com/ax-check/ax-check/internal/toolset"
)

// serverSource is a running server. Only its list is asked for; no tool is
// called and no capability is declared.
type serverSource struct {
	name string
	// dial is given the whole run's context: a server outlives the dialling.
	dial func(run context.Context) mcp.Dialer
	// timeout is for the start, and for each answer.
	timeout time.Duration
	// gone is the hint for a server that ended or cannot be reached, silent for
	// one that does not answer.
	gone, silent string
}

// commandSource is a server that is started as the user gives it, with the
// user's environment.
func commandSource(argv, environ []string, timeout time.Duration) source {
	dial := func(run context.Context) mcp.Dialer {
		return dialFunc(func(context.Context) (mcp.Transport, error) {
			server, err := process.Start(run, argv, "", environ)
			if err != nil {
				return nil, err
			}
			return mcp.WithProcess(mcp.NewStdio(server.Stdin, server.Stdout, mcp.Limits{}), server), nil
		})
	}
	return serverSource{
		name: "the server", dial: dial, timeout: timeout,
		gone:   "run the command by hand; a missing setting or key is the most common cause",
		silent: "does the command start an MCP server on stdin and stdout? one that is slow to start needs a longer --timeout",
	}
}

// urlSource is a server that is reached over Streamable HTTP.
func urlSource(address string, timeout time.Duration) source {
	return serverSource{
		name: publicAddress(address), timeout: timeout,
		dial:   func(context.Context) mcp.Dialer { return mcp.HTTP(address, nil) },
		gone:   "check the address, and that the server is running",
		silent: "is there an MCP server at this address? one that is slow needs a longer --timeout",
	}
}

// dialFunc is a Dialer of a function.
type dialFunc func(ctx context.Context) (mcp.Transport, error)

func (f dialFunc) Dial(ctx context.Context) (mcp.Transport, error) { return f(ctx) }

func (s serverSource) String() string { return s.name }

func (s serverSource) load(ctx context.Context) (toolset.Set, []finding.Finding, error) {
	client, err := mcp.Connect(ctx, s.dial(ctx), mcp.Options{
		ClientVersion: version(), StartTimeout: s.timeout, RequestTimeout: s.timeout,
	})
	if err != nil {
		return toolset.Set{}, nil, s.failed("connecting to "+s.name, err)
	}
	list, err := client.ListTools(ctx)
	faults := client.Faults()
	if closing := client.Close(); err == nil && closing != nil {
		return toolset.Set{}, nil, s.failed("ending "+s.name, closing)
	}
	if err != nil {
		return toolset.Set{}, nil, s.failed("listing the tools of "+s.name, err)
	}
	set, err := toolset.FromServer(list.Tools)
	if err != nil {
		return toolset.Set{}, nil, failed(err, "")
	}
	return set, wireFindings(faults), nil
}

// wireRules names the rule for each fault that the client writes down.
var wireRules = map[mcp.FaultCode]rule.Rule{
	mcp.StdoutNoise:   rules.StdoutNoise,
	mcp.CursorRepeats: rules.CursorRepeats,
	mcp.IDType:        rules.ReplyIDType,
	mcp.BadJSON:       rules.ReplyNotJSON,
}

func wireFindings(faults []mcp.Fault) []finding.Finding {
	var found []finding.Finding
	for _, fault := range faults {
		message := fault.Message
		if fault.Count > 1 {
			message += fmt.Sprintf(" (%d times)", fault.Count)
		}
		if fault.Excerpt != "" {
			message += fmt.Sprintf("; it begins %q", fault.Excerpt)
		}
		found = append(found, wireRules[fault.Code].OfServer(message))
	}
	finding.Sort(found)
	return found
}

// serverFailed says what was being done and, where one can tell, what to do.
func (s serverSource) failed(doing string, err error) error {
	return failed(fmt.Errorf("%s: %w", doing, err), s.hint(err))
}

func (s serverSource) hint(err error) string {
	var refused *mcp.StatusError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "check the command after --; it is run as it stands, without a shell"
	case errors.Is(err, mcp.ErrTimeout):
		return s.silent
	case errors.Is(err, mcp.ErrGone):
		return s.gone
	case errors.Is(err, mcp.ErrProtocol):
		return offProtocol
	case errors.As(err, &refused):
		return "check the address, and that the server needs no sign-in"
	}
	return ""
}

// publicAddress is an address without what may be secret in it.
func publicAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
