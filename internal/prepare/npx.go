package prepare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ax-check/ax-check/internal/sandbox"
)

// npxCall is a parsed npx command line.
type npxCall struct {
	packages []string // to install
	program  string   // executable to run; "" for the package's own
	args     []string
}

// parseNpx reads the arguments of npx (npm-exec(1)).
func parseNpx(args []string) (npxCall, error) {
	var call npxCall
	i := 0
loop:
	for ; i < len(args); i++ {
		flag, value, inline := strings.Cut(args[i], "=")
		switch flag {
		case "-y", "--yes", "-q", "--quiet", "--prefer-offline", "--prefer-online":
		case "-p", "--package":
			if !inline {
				if i++; i == len(args) {
					return call, &Error{Problem: "npx " + flag + " needs a package", Hint: "for example: npx -y -p PACKAGE PROGRAM"}
				}
				value = args[i]
			}
			call.packages = append(call.packages, value)
		case "--":
			i++
			break loop
		default:
			if strings.HasPrefix(flag, "-") {
				return call, &Error{
					Problem: fmt.Sprintf("npx option %s is not understood here", flag),
					Hint:    "install the package first (npm install PACKAGE), then give its program directly",
				}
			}
			break loop
		}
	}
	rest := args[min(i, len(args)):]
	if len(rest) == 0 {
		return call, &Error{Problem: "npx is given no package", Hint: "for example: ax-check verify -- npx -y PACKAGE ARGS"}
	}
	if len(call.packages) == 0 {
		call.packages = rest[:1]
	} else {
		call.program = rest[0]
	}
	call.args = rest[1:]
	return call, nil
}

// packageName cuts the version off a package spec; "" when the spec is not a
// plain name (a folder, a tarball, a git address).
func packageName(spec string) (name, version string) {
	at := strings.LastIndexByte(spec, '@')
	if at > 0 {
		name, version = spec[:at], spec[at+1:]
	} else {
		name = spec
	}
	if strings.ContainsAny(name, ":") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") ||
		strings.Count(name, "/") > 1 || strings.Contains(name, "/") && !strings.HasPrefix(name, "@") {
		return "", ""
	}
	return name, version
}

// exactVersion reports whether a version names one release: 1.2.3 or 1.2.3-rc.1.
func exactVersion(version string) bool {
	core, _, _ := strings.Cut(version, "-")
	parts := strings.Split(core, ".")
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.Trim(p, "0123456789") != ""
	})
}

func (p preparation) npx(ctx context.Context, args []string) ([]string, error) {
	call, err := parseNpx(args)
	if err != nil {
		return nil, err
	}
	name, version := packageName(call.packages[0])
	if name == "" {
		return nil, &Error{
			Problem: fmt.Sprintf("npx %s: only packages by name can be fetched here", call.packages[0]),
			Hint:    "install it first, then give its program directly",
		}
	}
	// As npx does, a package of the project at hand comes first.
	if len(call.packages) == 1 && version == "" {
		if here, err := filepath.Abs("node_modules"); err == nil {
			if program, err := programOf(here, name, call.program); err == nil {
				return append([]string{program}, call.args...), nil
			}
		}
	}
	home, _ := os.UserHomeDir()
	npmrc := filepath.Join(home, ".npmrc")
	dir, err := p.obtain(ctx, request{
		kind: "npm", name: strings.Join(call.packages, " "), key: fmt.Sprint(call.packages, p.AllowScripts),
		exact:    !slices.ContainsFunc(call.packages, func(spec string) bool { _, v := packageName(spec); return !exactVersion(v) }),
		readable: []string{npmrc},
		run: func(staging string) (sandbox.Command, error) {
			// A project of its own tells npm where to install. --prefix would do so
			// too, and keep npm from the machine's settings, which lie below the prefix.
			if err := os.WriteFile(filepath.Join(staging, "package.json"), []byte("{}"), 0o644); err != nil {
				return sandbox.Command{}, fmt.Errorf("making a folder to install into: %w", err)
			}
			argv := []string{"npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}
			if !p.AllowScripts {
				argv = append(argv, "--ignore-scripts")
			}
			env := settings("npm_config_")
			if _, err := os.Stat(npmrc); err == nil {
				env = append(env, "npm_config_userconfig="+npmrc)
			}
			// The user's download cache is read; what is added to it stays in the sandbox.
			env = append(env, "npm_config_cache="+filepath.Join(home, ".npm"))
			return sandbox.Command{Argv: append(argv, call.packages...), Dir: staging, Env: env}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	program, err := programOf(filepath.Join(dir, "node_modules"), name, call.program)
	if err != nil {
		return nil, err
	}
	return append([]string{program}, call.args...), nil
}

// programOf finds an executable of an installed package: the one named, else
// the only one, else the one with the package's own name.
func programOf(modules, name, program string) (string, error) {
	text, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(name), "package.json"))
	if err != nil {
		return "", fmt.Errorf("reading what was installed of %s: %w", name, err)
	}
	var manifest struct {
		Bin json.RawMessage `json:"bin"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return "", fmt.Errorf("reading package.json of %s: %w", name, err)
	}
	own := name[strings.LastIndexByte(name, '/')+1:]
	if program == "" {
		program, err = pick(manifest.Bin, own)
		if err != nil {
			return "", &Error{Problem: fmt.Sprintf("package %s: %v", name, err), Hint: "name the program: npx -y -p " + name + " PROGRAM"}
		}
	}
	path := filepath.Join(modules, ".bin", program)
	if _, err := os.Stat(path); err != nil {
		return "", &Error{Problem: fmt.Sprintf("package %s has no program %q", name, program), Hint: "see the package's documentation for the name of its program"}
	}
	return path, nil
}

// pick chooses among the programs of a package (package.json, "bin").
func pick(bin json.RawMessage, own string) (string, error) {
	var single string
	if json.Unmarshal(bin, &single) == nil {
		return own, nil
	}
	var several map[string]string
	if json.Unmarshal(bin, &several) != nil || len(several) == 0 {
		return "", fmt.Errorf("it has no program to run")
	}
	if _, ok := several[own]; ok || len(several) > 1 {
		if !ok {
			return "", fmt.Errorf("it has several programs and none is called %s", own)
		}
		return own, nil
	}
	for only := range several {
		own = only
	}
	return own, nil
}
