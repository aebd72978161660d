package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ax-check/ax-check/internal/testenv"
)

// BenchmarkStart compares the start of a program, until it speaks, bare and in a
// world of its own.
func BenchmarkStart(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bareStart(b, "")
		}
	})
	b.Run("world", func(b *testing.B) {
		start(b, Spec{}).Close() // or skip
		for b.Loop() {
			worldStart(b, Home)
		}
	})
	b.Run("program in a world", func(b *testing.B) {
		w := start(b, Spec{})
		for b.Loop() {
			speak(b, w, Home)
			if err := w.KillAll(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSettle(b *testing.B) {
	w := start(b, Spec{})
	speak(b, w, Home)
	for b.Loop() {
		if s := settle(w, 5*time.Second, 0); !s.OK {
			b.Fatal(s.Why)
		}
	}
}

// BenchmarkStartBesideBigTree compares worlds in whose machine the working
// folder lies beside a great many files with worlds where it lies beside none.
// The tree takes minutes to make, so it is made only where
// AX_CHECK_TEST_BIG_TREE names a folder for it, and is used again if it is there.
func BenchmarkStartBesideBigTree(b *testing.B) {
	const files = 1_000_000
	place := os.Getenv(testenv.Prefix + "BIG_TREE")
	if place == "" {
		b.Skip("AX_CHECK_TEST_BIG_TREE names no folder")
	}
	growTree(b, place, files)
	empty := testenv.PublicDir(b)
	for _, c := range []struct{ name, dir string }{{"none", empty}, {"million", place}, {"none again", empty}} {
		b.Run(c.name, func(b *testing.B) {
			b.Chdir(c.dir)
			b.Setenv("HOME", c.dir)
			start(b, Spec{}).Close() // or skip
			for b.Loop() {
				worldStart(b, c.dir)
			}
		})
	}
}

// growTree makes n empty files in folders of a thousand.
func growTree(b *testing.B, place string, n int) {
	b.Helper()
	const each = 1000
	for i := range n / each {
		dir := filepath.Join(place, fmt.Sprint(i))
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprint(each-1))); err == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range each {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func bareStart(b *testing.B, dir string) {
	b.Helper()
	c := exec.Command("/proc/self/exe", probeName, "serve")
	c.Dir = dir
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
}

// worldStart makes a world, starts a program with its working folder in dir, and
// ends the world.
func worldStart(b *testing.B, dir string) {
	b.Helper()
	w, err := Start(b.Context(), Spec{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	speak(b, w, dir)
}

func speak(b *testing.B, w *World, dir string) {
	b.Helper()
	c := probeCommand(b, "serve")
	c.Dir = dir
	p, err := w.Run(c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = p.Stdin.Close(), p.Stdout.Close() })
	if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
}
