package argument

import (
	"io/fs"
	"path"
	"testing"
	"unicode/utf8"
)

// fixtureWorld is the built-in workspace as a server would find it.
func fixtureWorld(t testing.TB) World {
	t.Helper()
	w := World{Workspace: "/ws", Home: "/home/user", Dirs: []string{"/ws"}}
	err := fs.WalkDir(Fixture(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir():
			w.Dirs = append(w.Dirs, path.Join("/ws", name))
			return nil
		}
		data, err := fs.ReadFile(Fixture(), name)
		f := File{Path: path.Join("/ws", name), Size: int64(len(data)), Binary: !utf8.Valid(data)}
		if !f.Binary {
			f.Text = string(data)
		}
		w.Files = append(w.Files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
