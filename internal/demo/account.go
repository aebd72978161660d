package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The account's state, below the data directory. The files are written in
// every way that servers write them: appended to, rewritten in place, replaced
// by a rename, created and removed.
const (
	bookingsFile = "bookings.json"       // one document
	contactsDir  = "contacts"            // one document a contact
	holdsDir     = "holds"               // one document a hold
	notesFile    = "notes.txt"           // one line a note
	outboxFile   = "outbox.jsonl"        // one line a reminder
	historyFile  = "search_history.json" // one document
	logFile      = "server.log"          // one line a call
)

const (
	confirmed = "confirmed"
	cancelled = "cancelled"
)

type ledger struct {
	Account  string    `json:"account"`
	Bookings []booking `json:"bookings"`
}

type booking struct {
	ID      string `json:"id"`
	Guest   string `json:"guest"`
	Room    string `json:"room"`
	Arrival string `json:"arrival"`
	Nights  int    `json:"nights"`
	Status  string `json:"status"`
}

func (b booking) String() string {
	return fmt.Sprintf("%s: %s, room %s, %s for %d night(s), %s", b.ID, b.Guest, b.Room, b.Arrival, b.Nights, b.Status)
}

type contact struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

type reminder struct {
	Booking string `json:"booking"`
	Message string `json:"message"`
}

// account is the files below one data directory.
type account struct{ dir string }

func (a account) path(elem ...string) string {
	return filepath.Join(append([]string{a.dir}, elem...)...)
}

func (a account) ledger() (ledger, error) {
	var l ledger
	err := readJSON(a.path(bookingsFile), &l)
	return l, err
}

// find gives the ledger and the index of one booking in it.
func (a account) find(id string) (ledger, int, error) {
	l, err := a.ledger()
	if err != nil {
		return ledger{}, 0, err
	}
	for i, b := range l.Bookings {
		if b.ID == id {
			return l, i, nil
		}
	}
	return ledger{}, 0, fmt.Errorf("there is no booking %s", id)
}

// nextID is the id after the highest one in use.
func (l ledger) nextID() string {
	highest := 1000
	for _, b := range l.Bookings {
		if n, err := strconv.Atoi(strings.TrimPrefix(b.ID, "B-")); err == nil {
			highest = max(highest, n)
		}
	}
	return fmt.Sprintf("B-%d", highest+1)
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

func pretty(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// overwriteJSON writes a document in place: readers may see it half written.
func overwriteJSON(path string, v any) error {
	text, err := pretty(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// replaceJSON writes a document beside the old one and renames it over that:
// readers see the old one or the new one.
func replaceJSON(path string, v any) error {
	text, err := pretty(v)
	if err != nil {
		return err
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, text, 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// createJSON writes a document that does not exist yet, and says whether it did.
func createJSON(path string, v any) (created bool, err error) {
	text, err := pretty(v)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return createFile(path, text)
}

// createFile writes a file unless there is one of that name already, and says
// whether it did.
func createFile(path string, content []byte) (created bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(content)
	return true, errors.Join(err, f.Close())
}

// appendLine adds one line with a single write, so that lines never mix.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
