package argument

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"sync"
)

//go:embed fixture
var seeds embed.FS

// emptySeed is the folder of the fixture with nothing in it.
const emptySeed = "compost"

// Fixture is the workspace that a server gets when the user gives none: a few
// files that let arguments take effect. Text files hold lines and words that
// repeat; there are a JSON document, JSON Lines, CSV, Markdown, a source file
// and a picture, nested folders and an empty one. Files are 0644, folders 0755.
func Fixture() fs.FS { return fixture() }

// fixture is an archive in memory: unlike an embedded tree, it can hold an
// empty folder and modes that allow writing.
var fixture = sync.OnceValue(func() fs.FS {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := fs.WalkDir(seeds, "fixture", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "fixture" {
			return err
		}
		inside := name[len("fixture/"):]
		if d.IsDir() {
			return addEntry(w, inside+"/", fs.ModeDir|0o755, nil)
		}
		data, err := seeds.ReadFile(name)
		if err != nil {
			return err
		}
		return addEntry(w, inside, 0o644, data)
	})
	if err == nil {
		err = addEntry(w, emptySeed+"/", fs.ModeDir|0o755, nil)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("argument: packing the embedded fixture: %v", err))
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(fmt.Sprintf("argument: reading the embedded fixture: %v", err))
	}
	return r
})

func addEntry(w *zip.Writer, name string, mode fs.FileMode, data []byte) error {
	h := &zip.FileHeader{Name: name}
	h.SetMode(mode)
	entry, err := w.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = entry.Write(data)
	return err
}
