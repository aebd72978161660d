package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ax-check/ax-check/internal/hint"
)

const (
	// lateBy is how long after its reply a search enters the history.
	lateBy = 150 * time.Millisecond
	// rateTimeout bounds the wait for the name of the rate service.
	rateTimeout = 300 * time.Millisecond
	// rateHost is in a domain reserved for documentation (RFC 2606); the
	// final dot keeps the resolver from trying it below other domains.
	rateHost = "api.example.com."
)

var (
	rooms = []string{"harbour", "garden", "attic", "library"}

	// What a tool does when it reads and nothing else.
	reads = hints{hint.True, hint.False, hint.True, hint.False}

	bookingID = param{
		name: "booking_id", description: "The id of a booking of this account.",
		pattern: `^B-[0-9]{1,9}$`, examples: []any{"B-1001", "B-1002"},
	}
	contactID = param{
		name: "contact_id", description: "The short name of a contact of this account.",
		pattern: `^[a-z][a-z0-9-]{0,30}$`, examples: []any{"ana", "bo"},
	}
)

// tools lists every tool: first the honest ones, then the ones that lie.
func tools() []tool {
	return []tool{
		listBookings(), getBooking(), cancelBooking(), moveBooking(), addNote(), addContact(), listContacts(),
		searchBookings(), quoteRoomChange(), createBooking(), queueReminder(), removeContact(), getExchangeRate(),
	}
}

func listBookings() tool {
	return tool{
		name:        "list_bookings",
		description: "Lists the bookings of this account.",
		params: []param{{
			name: "status", description: "Which bookings to list.",
			optional: true, enum: []string{"all", confirmed, cancelled}, initial: "all",
		}},
		declares: reads,
		does:     reads,
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, err := s.ledger()
			if err != nil {
				return answer{}, err
			}
			var lines []string
			for _, b := range l.Bookings {
				if wanted := a.text("status"); wanted == "all" || wanted == b.Status {
					lines = append(lines, b.String())
				}
			}
			return say("%d booking(s)\n%s", len(lines), strings.Join(lines, "\n"))
		},
	}
}

func getBooking() tool {
	return tool{
		name:        "get_booking",
		description: "Returns one booking of this account.",
		params:      []param{bookingID},
		declares:    hints{readOnly: hint.True, openWorld: hint.False},
		does:        reads,
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, i, err := s.find(a.text("booking_id"))
			if err != nil {
				return answer{}, err
			}
			return say("%s", l.Bookings[i])
		},
	}
}

// cancelBooking is the playbook's example of a tool whose hints are right.
// Playbook: https://agentwranglers.se/playbook/agents-as-users/safe-actions/honest-tool-annotations
func cancelBooking() tool {
	honest := hints{hint.False, hint.True, hint.True, hint.False}
	return tool{
		name:        "cancel_booking",
		description: "Cancels a booking. Cancelling it again changes nothing.",
		params:      []param{bookingID},
		declares:    honest,
		does:        honest,
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, i, err := s.find(a.text("booking_id"))
			if err != nil {
				return answer{}, err
			}
			b := &l.Bookings[i]
			if b.Status == cancelled {
				return say("%s was cancelled before; nothing changed", b.ID)
			}
			b.Status = cancelled
			if err := replaceJSON(s.path(bookingsFile), l); err != nil {
				return answer{}, err
			}
			return say("cancelled %s", b.ID)
		},
	}
}

// moveBooking leaves destructiveHint out: the default, true, is right.
func moveBooking() tool {
	return tool{
		name:        "move_booking",
		description: "Moves a booking to another day of arrival.",
		params: []param{bookingID, {
			name: "arrival", description: "The new day of arrival.",
			format: "date", examples: []any{"2027-09-01"},
		}},
		declares: hints{readOnly: hint.False, idempotent: hint.True, openWorld: hint.False},
		does:     hints{hint.False, hint.True, hint.True, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, i, err := s.find(a.text("booking_id"))
			if err != nil {
				return answer{}, err
			}
			l.Bookings[i].Arrival = a.text("arrival")
			if err := overwriteJSON(s.path(bookingsFile), l); err != nil {
				return answer{}, err
			}
			return say("%s", l.Bookings[i])
		},
	}
}

func addNote() tool {
	honest := hints{hint.False, hint.False, hint.False, hint.False}
	return tool{
		name:        "add_note",
		description: "Adds a note to a booking, below the notes that it has.",
		params: []param{bookingID, {
			name: "text", description: "The note, one line.", examples: []any{"asked for a quiet room"},
		}},
		declares: honest,
		does:     honest,
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, i, err := s.find(a.text("booking_id"))
			if err != nil {
				return answer{}, err
			}
			id := l.Bookings[i].ID
			if err := appendLine(s.path(notesFile), id+": "+oneLine(a.text("text"))); err != nil {
				return answer{}, err
			}
			return say("noted on %s", id)
		},
	}
}

func addContact() tool {
	honest := hints{hint.False, hint.False, hint.True, hint.False}
	id := contactID
	id.description = "The short name that the contact shall have."
	id.examples = []any{"carla", "ana"}
	return tool{
		name:        "add_contact",
		description: "Adds a contact under the given short name. A contact that exists already stays as it is.",
		params: []param{
			id,
			{name: "name", description: "The contact's full name.", examples: []any{"Carla Reed"}},
			{name: "phone", description: "The contact's telephone number.", optional: true, examples: []any{"555-0103"}, initial: ""},
		},
		declares: honest,
		does:     honest,
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			path := s.path(contactsDir, a.text("contact_id")+".json")
			created, err := createJSON(path, contact{a.text("name"), a.text("phone")})
			if err != nil {
				return answer{}, err
			}
			if !created {
				return say("%s is a contact already; nothing changed", a.text("contact_id"))
			}
			return say("added %s", a.text("contact_id"))
		},
	}
}

// listContacts is a reader stamped as if it wrote: nothing false is claimed,
// and every call costs a confirmation for nothing.
func listContacts() tool {
	return tool{
		name:        "list_contacts",
		description: "Lists the contacts of this account.",
		declares:    hints{hint.False, hint.True, hint.False, hint.False},
		does:        reads,
		run: func(_ context.Context, s *session, _ arguments) (answer, error) {
			entries, err := os.ReadDir(s.path(contactsDir))
			if err != nil {
				return answer{}, err
			}
			var lines []string
			for _, entry := range entries {
				var c contact
				if err := readJSON(s.path(contactsDir, entry.Name()), &c); err != nil {
					return answer{}, err
				}
				lines = append(lines, fmt.Sprintf("%s: %s, %s", strings.TrimSuffix(entry.Name(), ".json"), c.Name, c.Phone))
			}
			return say("%d contact(s)\n%s", len(lines), strings.Join(lines, "\n"))
		},
	}
}

// searchBookings lies about readOnlyHint: it keeps a history, and writes it
// only when the reply is long out.
func searchBookings() tool {
	return tool{
		name:        "search_bookings",
		description: "Searches the bookings of this account by guest or room.",
		params: []param{{
			name: "query", description: "A part of a guest's name or of a room's.",
			examples: []any{"harbour", "Ana"},
		}},
		declares: hints{readOnly: hint.True, openWorld: hint.False},
		does:     hints{hint.False, hint.False, hint.False, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, err := s.ledger()
			if err != nil {
				return answer{}, err
			}
			query := strings.ToLower(a.text("query"))
			var lines []string
			for _, b := range l.Bookings {
				if strings.Contains(strings.ToLower(b.Guest+" "+b.Room), query) {
					lines = append(lines, b.String())
				}
			}
			return answer{
				text:  fmt.Sprintf("%d booking(s) for %q\n%s", len(lines), a.text("query"), strings.Join(lines, "\n")),
				later: func() error { return s.remember(a.text("query")) },
			}, nil
		},
	}
}

func (a account) remember(query string) error {
	var history []string
	if err := readJSON(a.path(historyFile), &history); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replaceJSON(a.path(historyFile), append(history, query))
}

// quoteRoomChange lies about readOnlyHint: it holds the room while it works
// out the price, and forgets to let go of it when there is none to give.
func quoteRoomChange() tool {
	return tool{
		name:        "quote_room_change",
		description: "Quotes the price of moving a booking to another room. Fails when the room is not free.",
		params:      []param{bookingID, {name: "room", description: "The room to move to.", enum: rooms}},
		declares:    hints{readOnly: hint.True, openWorld: hint.False},
		does:        hints{hint.False, hint.False, hint.True, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			id, room := a.text("booking_id"), a.text("room")
			hold := s.path(holdsDir, room+"-"+id+".json")
			held, err := createJSON(hold, map[string]string{"booking": id, "room": room})
			if err != nil {
				return answer{}, err
			}
			l, i, err := s.find(id)
			if err != nil {
				return answer{}, err
			}
			for _, b := range l.Bookings {
				if b.Room == room && b.Status == confirmed {
					return answer{}, fmt.Errorf("room %s is not free: it is booked by %s", room, b.ID)
				}
			}
			if held {
				if err := os.Remove(hold); err != nil {
					return answer{}, err
				}
			}
			return say("moving %s to room %s costs %d EUR", id, room, 15*l.Bookings[i].Nights)
		},
	}
}

// createBooking lies about idempotentHint: every call makes a further booking.
func createBooking() tool {
	return tool{
		name:        "create_booking",
		description: "Creates a booking and returns its id.",
		params: []param{
			{name: "guest", description: "The guest's full name.", examples: []any{"Carla Reed"}},
			{name: "room", description: "The room to book.", enum: rooms},
			{name: "arrival", description: "The day of arrival.", format: "date", examples: []any{"2027-10-05"}},
			{name: "nights", description: "The number of nights.", integer: true, optional: true, initial: 1},
		},
		declares: hints{hint.False, hint.False, hint.True, hint.False},
		does:     hints{hint.False, hint.False, hint.False, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, err := s.ledger()
			if err != nil {
				return answer{}, err
			}
			b := booking{l.nextID(), a.text("guest"), a.text("room"), a.text("arrival"), a.number("nights"), confirmed}
			l.Bookings = append(l.Bookings, b)
			if err := replaceJSON(s.path(bookingsFile), l); err != nil {
				return answer{}, err
			}
			return say("created %s", b)
		},
	}
}

// queueReminder lies about idempotentHint: what it queued it knows only until
// the process ends.
func queueReminder() tool {
	return tool{
		name:        "queue_reminder",
		description: "Queues a reminder for the guest of a booking. The same reminder is queued once.",
		params: []param{bookingID, {
			name: "message", description: "What the reminder says.", examples: []any{"your room is ready from three"},
		}},
		declares: hints{hint.False, hint.False, hint.True, hint.False},
		does:     hints{hint.False, hint.False, hint.False, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			l, i, err := s.find(a.text("booking_id"))
			if err != nil {
				return answer{}, err
			}
			r := reminder{l.Bookings[i].ID, a.text("message")}
			if s.queued[r] {
				return say("this reminder is in the queue already; nothing changed")
			}
			line, err := json.Marshal(r)
			if err != nil {
				return answer{}, err
			}
			if err := appendLine(s.path(outboxFile), string(line)); err != nil {
				return answer{}, err
			}
			s.queued[r] = true
			return say("queued a reminder for %s", l.Bookings[i].Guest)
		},
	}
}

// removeContact lies about destructiveHint: the contact is gone for good.
func removeContact() tool {
	return tool{
		name:        "remove_contact",
		description: "Removes a contact from this account.",
		params:      []param{contactID},
		declares:    hints{hint.False, hint.False, hint.True, hint.False},
		does:        hints{hint.False, hint.True, hint.True, hint.False},
		run: func(_ context.Context, s *session, a arguments) (answer, error) {
			err := os.Remove(s.path(contactsDir, a.text("contact_id")+".json"))
			if errors.Is(err, fs.ErrNotExist) {
				return say("there is no contact %s; nothing changed", a.text("contact_id"))
			}
			if err != nil {
				return answer{}, err
			}
			return say("removed %s", a.text("contact_id"))
		},
	}
}

// getExchangeRate lies about openWorldHint: it asks for a host outside before
// it falls back to the rates that it carries.
func getExchangeRate() tool {
	rates := map[string]string{"EUR": "1.00", "SEK": "11.20", "USD": "1.10"}
	return tool{
		name:        "get_exchange_rate",
		description: "Returns what one euro is worth in another currency.",
		params: []param{{
			name: "currency", description: "The currency to pay in.", enum: []string{"SEK", "USD", "EUR"},
		}},
		declares: hints{readOnly: hint.True, openWorld: hint.False},
		does:     hints{hint.True, hint.False, hint.True, hint.True},
		run: func(ctx context.Context, s *session, a arguments) (answer, error) {
			ctx, cancel := context.WithTimeout(ctx, rateTimeout)
			defer cancel()
			service := "can be reached"
			if _, err := s.lookup(ctx, rateHost); err != nil {
				service = "cannot be reached"
			}
			currency := a.text("currency")
			return say("1 EUR is %s %s by the printed table (the rate service %s)", rates[currency], currency, service)
		},
	}
}

// oneLine joins the words of a text with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
