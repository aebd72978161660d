package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed account
var embedded embed.FS

// Seed is the account's files as they are before anything is called, with
// paths relative to the server's data directory.
func Seed() fs.FS {
	account, err := fs.Sub(embedded, "account")
	if err != nil {
		panic(err) // the pattern above names the folder
	}
	return account
}

// open lays the seed into dir unless an account lives there already. Only
// the bookings decide that: a contact removed before a restart stays removed.
// No file that exists is touched.
func open(dir string) error {
	switch _, err := os.Stat(filepath.Join(dir, bookingsFile)); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking for an account: %w", err)
	}
	seed := Seed()
	return fs.WalkDir(seed, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := fs.ReadFile(seed, name)
		if err != nil {
			return err
		}
		_, err = createFile(target, content)
		return err
	})
}
