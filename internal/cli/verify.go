package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ax-check/ax-check/internal/argument"
	"github.com/ax-check/ax-check/internal/config"
	"github.com/ax-check/ax-check/internal/exit"
	"github.com/ax-check/ax-check/internal/finding"
	"github.com/ax-check/ax-check/internal/mcp"
	"github.com/ax-check/ax-check/internal/prepare"
	"github.com/ax-check/ax-check/internal/report"
	"github.com/ax-check/ax-check/internal/report/jsonreport"
	"github.com/ax-check/ax-check/internal/report/terminal"
	"github.com/ax-check/ax-check/internal/sandbox"
	"github.com/ax-check/ax-check/internal/verdict"
	"github.com/ax-check/ax-check/internal/verify"
)

// reportOptions say how a run is reported; demo has them too.
type reportOptions struct {
	format string
	failOn string
	record string
	strict bool
}

func (o *reportOptions) flags(cmd *cobra.Command) {
	addFormat(cmd, &o.format)
	cmd.Flags().StringVar(&o.failOn, "fail-on", "error", "lowest `severity` that makes the exit code 1: error (a contradicted hint), warn, info (an overcautious or undeclared one) or never")
	cmd.Flags().StringVar(&o.record, "record", "", "`file` to write the run record to, one JSON event a line")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "exit with 4 when a hint could not be judged")
	completeWith(cmd, "fail-on", "error", "warn", "info", "never")
}

type verifyOptions struct {
	reportOptions
	config.File
	configFile   string
	allowScripts bool
}

func newVerifyCommand(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run every tool of a server in a sandbox and judge its four hints",
		Long: `Run every tool of a server in a sandbox and judge its four hints by what it did.

The server is started many times, each time in a world of its own: fresh files, no
network, your own files readable but never written. Every tool is called there,
destructive ones too. In the command, in --env, --cwd and --setup, {workspace} stands
for the world's workspace folder and {home} for its home. The server starts in the
workspace; files that its command names are found from the folder where you are.

The command (as a list of words) and what belongs to its world can be kept in
ax-check.yaml under the names of the flags; then plain "ax-check verify" does.`,
		Example: `  ax-check verify -- npx -y @modelcontextprotocol/server-filesystem {workspace}
  ax-check verify --workspace ./fixtures -- node server.js {workspace}
  ax-check verify --env API_KEY --setup "npm run seed" --cwd . -- node server.js
  ax-check verify --format json --record run.jsonl -- ./my-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) > 0 && dash != 0 {
				if isURL(args[0]) {
					return usage(errors.New("verify runs servers that it can start itself; one at a URL is out of its sight"), "give the command that starts the server after --; ax-check lint takes a URL")
				}
				return usage(fmt.Errorf("%q does not belong here", args[0]), "put the server's command after --: ax-check verify -- "+strings.Join(args, " "))
			}
			if err := o.merge(cmd, args); err != nil {
				return err
			}
			return a.verify(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Workspace, "workspace", "", "`folder` whose copy becomes the workspace, instead of ax-check's own files")
	f.StringVar(&o.Home, "home", "", "`folder` whose copy becomes the home")
	f.BoolVar(&o.NoSeed, "no-seed", false, "leave the workspace empty")
	f.StringArrayVar(&o.Env, "env", nil, "`NAME=VALUE` for the server, or NAME alone to pass yours; repeatable")
	f.StringVar(&o.Cwd, "cwd", "", "`folder` that the server starts in (default {workspace})")
	f.StringArrayVar(&o.Setup, "setup", nil, "shell `command` to run in every world before the server starts; repeatable")
	f.DurationVar(&o.Timeout, "timeout", 10*time.Second, "time limit of each call")
	f.Uint64Var(&o.Seed, "seed", 0, "`number` that makes the plan of calls; the same number makes the same calls")
	f.BoolVar(&o.allowScripts, "allow-scripts", false, "let packages that npx fetches run their install scripts")
	f.StringVar(&o.configFile, "config", "", "`file` with options (default "+config.FileName+", if it is there)")
	o.flags(cmd)
	_ = cmd.MarkFlagDirname("workspace")
	_ = cmd.MarkFlagDirname("home")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	return cmd
}

// merge completes the flags with the file: a flag that is given wins, and
// repeatable ones add to the file's.
func (o *verifyOptions) merge(cmd *cobra.Command, args []string) error {
	file, err := config.Find(o.configFile)
	if err != nil {
		return usage(err, "the keys are those of the flags; see ax-check verify --help")
	}
	given := func(flag string) bool { return cmd.Flags().Changed(flag) }
	if len(args) > 0 {
		file.Command = args
	}
	for flag, take := range map[string]func(){
		"workspace": func() { file.Workspace = o.Workspace },
		"home":      func() { file.Home = o.Home },
		"no-seed":   func() { file.NoSeed = o.NoSeed },
		"cwd":       func() { file.Cwd = o.Cwd },
		"timeout":   func() { file.Timeout = o.Timeout },
		"seed":      func() { file.Seed = o.Seed },
		"fail-on":   func() { file.FailOn = o.failOn },
	} {
		if given(flag) {
			take()
		}
	}
	file.Env = append(file.Env, o.Env...)
	file.Setup = append(file.Setup, o.Setup...)
	if file.Timeout == 0 {
		file.Timeout = o.Timeout
	}
	if file.FailOn != "" {
		o.failOn = file.FailOn
	}
	o.File = file
	if len(o.Command) == 0 {
		return usage(errors.New("verify needs the command that starts a server"), "for example: ax-check verify -- npx -y @modelcontextprotocol/server-filesystem {workspace}")
	}
	if o.Timeout < 0 {
		return usage(fmt.Errorf("--timeout %s is no time", o.Timeout), "for example: --timeout 10s")
	}
	return nil
}

// verify prepares the command and runs it through the worlds.
func (a *app) verify(ctx context.Context, o verifyOptions) error {
	seeds, err := o.seeds()
	if err != nil {
		return err
	}
	env, err := a.serverEnv(o.Env)
	if err != nil {
		return err
	}
	progress := a.progress()
	defer progress.Close()
	command, err := prepare.Command(ctx, expandAll(o.Command), prepare.Options{AllowScripts: o.allowScripts, Progress: progress.Say})
	if err != nil {
		return prepareFailed(err)
	}
	cwd := sandbox.Workspace
	if o.Cwd != "" {
		cwd = fromHere(expand(o.Cwd))
	}
	return a.run(ctx, verify.Options{
		Command: filesFromHere(command), Shown: o.Command, Dir: cwd, Env: env, Setup: expandAll(o.Setup),
		Workspace: seeds.workspace, Home: seeds.home, Seed: o.Seed, CallTimeout: o.Timeout,
	}, o.reportOptions, progress)
}

// run verifies a server and reports on it; demo ends here too.
func (a *app) run(ctx context.Context, v verify.Options, o reportOptions, progress *terminal.Progress) error {
	bar, err := parseFailOn(o.failOn)
	if err != nil {
		return err
	}
	if o.format != "text" && o.format != "json" {
		return unknownFormat(o.format)
	}
	v.Version, v.Findings = version(), wireFindings
	tape := &report.Tape{}
	sinks := report.Sinks{tape, progress}
	if o.record != "" {
		file, err := os.Create(o.record)
		if err != nil {
			return usage(fmt.Errorf("--record: %w", err), "")
		}
		defer func() { _ = file.Close() }()
		sinks = append(sinks, report.NewRecorder(file))
	}
	err = verify.Run(ctx, v, sinks)
	progress.Close()
	run := tape.Run()
	if err != nil && len(run.Tools) == 0 {
		return runFailed(err)
	}
	if err := a.written(a.writeRun(run, o.format)); err != nil {
		return err
	}
	if err != nil {
		return runFailed(err)
	}
	return verdictOf(run, bar, o.strict)
}

func (a *app) writeRun(run report.Run, format string) error {
	if format == "json" {
		return jsonreport.Write(a.Out, run)
	}
	return terminal.Format{Width: width(a.Out), Color: a.color()}.Write(a.Out, run)
}

// progress is the live line on stderr; it stays silent in a pipe.
func (a *app) progress() *terminal.Progress {
	file, ok := a.Err.(*os.File)
	live := ok && a.getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
	return &terminal.Progress{Out: a.Err, Live: live, Width: width(a.Err)}
}

// width is the columns of a terminal, 0 of anything else.
func width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// verdictOf turns a run into the exit code: findings first, then what a strict
// user calls incomplete. A run in which nothing could be tried is a failure.
func verdictOf(run report.Run, bar failBar, strict bool) error {
	made, effective := 0, 0
	for _, t := range run.Tools {
		made, effective = made+t.Made, effective+t.Effective
	}
	severities := map[verdict.Verdict]finding.Severity{
		verdict.Contradicted: finding.Error, verdict.Overcautious: finding.Info, verdict.Undeclared: finding.Info,
	}
	summary := verdict.Summarize(run.Tools)
	reached := slices.ContainsFunc(verdict.All(), func(v verdict.Verdict) bool {
		severity, ok := severities[v]
		return ok && summary.Count(v) > 0 && failBar(severity) >= bar
	}) || slices.ContainsFunc(run.Findings, func(f finding.Finding) bool { return failBar(f.Severity) >= bar })
	switch {
	case len(run.Tools) == 0 && run.Complete:
		return failed(errors.New("the server lists no tools"), "does it need a setting or a key before it offers any? pass it with --env NAME=VALUE")
	case effective == 0 && run.Complete && summary.Count(verdict.Contradicted) == 0:
		return nothingWorked(run, made)
	case reached:
		return &exit.Error{Code: exit.Findings}
	case strict && (summary.Count(verdict.Untested) > 0 || !run.Complete):
		return &exit.Error{Code: exit.Incomplete}
	}
	return nil
}

// nothingWorked names the first cause for which no call of any tool took effect.
func nothingWorked(run report.Run, made int) error {
	for _, t := range run.Trials {
		for _, c := range t.Calls {
			cause := c.Reason
			if cause == "" {
				cause = c.Reply
			}
			if cause != "" {
				return failed(fmt.Errorf("none of %d calls took effect; the first, %s: %s", made, t.Tool, firstLine(cause)), keyHint(cause,
					"give the server what it needs: --env for keys and settings, --workspace for files, --setup for commands"))
			}
		}
	}
	return failed(errors.New("no tool could be called with effect"), "see the reasons above")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// runFailed explains an error that kept a run from being done.
func runFailed(err error) error {
	var unsupported *sandbox.UnsupportedError
	var start *verify.StartError
	switch {
	case errors.As(err, &unsupported):
		return failed(err, strings.Join(append(slices.Clone(unsupported.Support.Remedies), "ax-check doctor tells more; ax-check lint needs no sandbox"), "\n                "))
	case errors.As(err, &start):
		return failed(err, keyHint(start.Stderr, startHint(err)))
	}
	return failed(err, "")
}

func startHint(err error) string {
	switch {
	case errors.Is(err, mcp.ErrTimeout):
		return "does the command start an MCP server that speaks over stdin and stdout, and not a web server or a shell?"
	case errors.Is(err, mcp.ErrProtocol):
		return offProtocol
	}
	return "in the sandbox it starts in the world's workspace (--cwd . for this folder), has no network, its own HOME and only the variables given by --env"
}

// offProtocol is the hint for a server that is there and answers otherwise than
// the protocol says.
const offProtocol = "this is a mistake of the server: tell its authors what it answers"

// settingName looks like the name of a variable that holds a key or a setting:
// words in capitals, the last of which says what it holds.
var settingName = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|USER|USERNAME|URL|URI|DSN|HOST|ENDPOINT|REGION|ID|EMAIL|PATH|DIR|FILE|CREDENTIALS|CONNECTION_STRING)\b`)

// keyHint names the variable that a message says is missing, where it does.
func keyHint(text, otherwise string) string {
	if name := settingName.FindString(text); name != "" {
		return fmt.Sprintf("the message names %s; pass it with --env %s=VALUE, or --env %s to pass your own", name, name, name)
	}
	return otherwise
}

func prepareFailed(err error) error {
	var misused *prepare.Error
	var fetch *prepare.FetchError
	switch {
	case errors.As(err, &misused):
		return usage(err, misused.Hint)
	case errors.As(err, &fetch):
		return failed(err, fetch.Hint)
	}
	return runFailed(err)
}

// seeds are the trees that are laid into the world.
type seeds struct{ workspace, home fs.FS }

// seeds chooses what the world holds: the user's own folders and nothing else,
// or ax-check's files.
func (o verifyOptions) seeds() (seeds, error) {
	var s seeds
	for _, part := range []struct {
		flag, dir string
		to        *fs.FS
	}{{"workspace", o.Workspace, &s.workspace}, {"home", o.Home, &s.home}} {
		if part.dir == "" {
			continue
		}
		if err := checkSeed(part.dir); err != nil {
			return s, usage(fmt.Errorf("--%s: %w", part.flag, err), "give a folder with what the tools need, and little else")
		}
		*part.to = os.DirFS(part.dir)
	}
	if s.workspace == nil && s.home == nil && !o.NoSeed {
		s.workspace = argument.Fixture()
	}
	return s, nil
}

// Bounds of a seed: it is copied into the memory of every world.
const (
	maxSeedBytes = 256 << 20
	maxSeedFiles = 50_000
)

func checkSeed(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	var size int64
	files := 0
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files++
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		if size > maxSeedBytes || files > maxSeedFiles {
			return fmt.Errorf("%s is too large to be copied into every world: the limit is %d MB and %d files", dir, maxSeedBytes>>20, maxSeedFiles)
		}
		return nil
	})
}

// serverEnv is the server's whole environment: what every world has, and what
// the user names.
func (a *app) serverEnv(named []string) ([]string, error) {
	env := verify.Environment(a.getenv)
	for _, entry := range named {
		name, value, given := strings.Cut(entry, "=")
		if !given {
			if value = a.getenv(name); value == "" {
				return nil, usage(fmt.Errorf("--env %s: %s is not set here", name, name), "set it, or give the value: --env "+name+"=VALUE")
			}
		}
		if name == "" {
			return nil, usage(fmt.Errorf("--env %q names no variable", entry), "write --env NAME=VALUE")
		}
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, name+"="+expand(value))
	}
	return env, nil
}

// filesFromHere makes the words of a command absolute that name a file by a path
// from the folder that the user is in, since the server starts in another one.
func filesFromHere(argv []string) []string {
	out := slices.Clone(argv)
	for i, word := range out {
		if i == 0 && !strings.ContainsRune(word, filepath.Separator) {
			continue // a program of PATH
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			out[i] = fromHere(word)
		}
	}
	return out
}

func fromHere(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}

var places = strings.NewReplacer("{workspace}", sandbox.Workspace, "{home}", sandbox.Home)

func expand(text string) string { return places.Replace(text) }

func expandAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, expand(t))
	}
	return out
}
