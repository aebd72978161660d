package verbs_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ax-check/ax-check/internal/verbs"
	"github.com/google/go-cmp/cmp"
)

func name(kind verbs.Kind, verb string) verbs.Sense {
	return verbs.Sense{Kind: kind, Verb: verb, Place: verbs.Name}
}

func sentence(kind verbs.Kind, verb string) verbs.Sense {
	return verbs.Sense{Kind: kind, Verb: verb, Place: verbs.Sentence}
}

func TestSense(t *testing.T) {
	unknown := verbs.Sense{}
	for _, c := range []struct {
		tool, description string
		want              verbs.Sense
	}{
		// The name, in every spelling.
		{"delete_file", "", name(verbs.Destructive, "delete")},
		{"deleteFile", "", name(verbs.Destructive, "delete")},
		{"DeleteHTTPProxy", "", name(verbs.Destructive, "delete")},
		{"delete-file", "", name(verbs.Destructive, "delete")},
		{"file.delete", "", name(verbs.Destructive, "delete")},
		{"files/delete", "", name(verbs.Destructive, "delete")},
		{"email_send_all", "", name(verbs.Additive, "send")},
		{"create_user", "", name(verbs.Write, "create")},
		{"get_invoice", "", name(verbs.Read, "get")},
		// Words, never parts of words.
		{"settings", "", unknown},
		{"dataset_info", "", unknown},
		{"postal_code", "", unknown},
		// Nouns that look like verbs.
		{"get_merge_request", "", name(verbs.Read, "get")},
		{"getWorkspaceUpdate", "", name(verbs.Read, "get")},
		{"retrieveAnOrder", "", name(verbs.Read, "retrieve")},
		{"user_post_counts", "", unknown},
		{"post_message", "", name(verbs.Additive, "post")},
		// A read verb at the end, and nouns there.
		{"deploy_app_logs_get", "", name(verbs.Read, "get")},
		{"create_list", "Create a new list", sentence(verbs.Write, "create")},
		{"deploy_list", "Lists deployments", sentence(verbs.Read, "lists")},
		{"mark_all_notifications_read", "Mark all notifications as read", sentence(verbs.Write, "mark")},
		{"deploy_diagram_generate", "Generates a diagram", unknown},
		// A conjunction ties a write to a read.
		{"get_or_create_label", "", name(verbs.Write, "create")},
		{"find_and_replace", "", name(verbs.Write, "replace")},
		{"x", "Lists, grants or revokes access", sentence(verbs.Destructive, "revokes")},
		{"x", "View history by tag, branch or commit", sentence(verbs.Read, "view")},
		// The sentence, where the name says nothing.
		{"x", "Deletes a file. Use with care.", sentence(verbs.Destructive, "deletes")},
		{"x", "Permanently deletes a file", sentence(verbs.Destructive, "deletes")},
		{"x", "Copies a file", sentence(verbs.Write, "copies")},
		{"x", "Searches the web", sentence(verbs.Read, "searches")},
		{"x", "  **Send** a message", sentence(verbs.Additive, "send")},
		{"x", "Order details by id", sentence(verbs.Write, "order")},
		{"x", "The order of things", unknown},
		{"x", "A tool. Deletes a file", unknown},
		{"x", "A tool\nDeletes a file", unknown},
		{"x", "Set up the project", unknown},
		{"x", "删除文件", unknown},
		{"", "", unknown},
		{"___", "", unknown},
		// The name decides over the sentence.
		{"get_report", "Creates a report", name(verbs.Read, "get")},
		// Negation.
		{"x", "Never deletes files", unknown},
		{"run_without_delete", "", unknown},
		// Objects that are only shown.
		{"deployPlan", "", unknown},
		{"create_template", "", unknown},
		{"embeddings_create", "", unknown},
		{"x", "Install instructions for the tool", unknown},
		{"x", "Send a prompt to a model and get the answer", unknown},
		{"remove_rules", "", name(verbs.Destructive, "remove")},
		{"update_template", "", name(verbs.Write, "update")},
	} {
		got := verbs.Names([]string{c.tool}).Of(c.tool, c.description)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q, %q:\n%s", c.tool, c.description, diff)
		}
	}
}

func TestServerPrefix(t *testing.T) {
	for _, c := range []struct {
		about string
		list  []string
		want  verbs.Sense // of the first
	}{
		{"a word that all share", []string{"discourse_read_post", "discourse_list_users", "discourse_search"}, name(verbs.Read, "read")},
		{"a shared word that is a verb elsewhere", []string{"store_get_item", "store_list_items", "store_find_item"}, name(verbs.Read, "get")},
		{"a verb that all share", []string{"delete_a", "delete_b", "delete_c"}, name(verbs.Destructive, "delete")},
		{"four of five", []string{"post_get_a", "post_get_b", "post_get_c", "post_get_d", "other"}, name(verbs.Read, "get")},
		{"three of five are too few", []string{"post_get_a", "post_get_b", "post_get_c", "x", "y"}, name(verbs.Additive, "post")},
		{"two names show no pattern", []string{"post_get_a", "post_get_b"}, name(verbs.Additive, "post")},
	} {
		if diff := cmp.Diff(c.want, verbs.Names(c.list).Of(c.list[0], "")); diff != "" {
			t.Errorf("%s:\n%s", c.about, diff)
		}
	}
}

// The two rules that stand on verbs, held against hints judged by hand in
// published lists. Labels that speak for a hit must be found right far more
// often than not; the floor may only rise.
func TestPrecisionOnPublishedLists(t *testing.T) {
	const corpus = "../../../shared/corpus"
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the corpus of published lists is not beside this checkout")
	}
	labels := readLabels(t, filepath.Join(corpus, "labels.jsonl"))
	files, _ := filepath.Glob(filepath.Join(corpus, "lists", "*.json"))
	readOnly := &score{rule: "readOnlyHint true and a write verb", hint: "readOnlyHint", claim: true}
	destructive := &score{rule: "destructiveHint false and a destructive verb", hint: "destructiveHint", claim: false}
	for _, file := range files {
		for _, tool := range readTools(t, file) {
			declared := tool.Annotations
			if declared["readOnlyHint"] == true && tool.sense.Kind.Writes() {
				readOnly.hit(labels, file, tool.Name)
			}
			if declared["readOnlyHint"] != true && declared["destructiveHint"] == false && tool.sense.Kind == verbs.Destructive {
				destructive.hit(labels, file, tool.Name)
			}
		}
	}
	for _, s := range []*score{readOnly, destructive} {
		t.Logf("%s: %d hits, of %d labelled %d right", s.rule, s.hits, s.right+s.wrong, s.right)
		if s.right == 0 || s.right < 4*s.wrong {
			t.Errorf("%s: %d right, %d wrong", s.rule, s.right, s.wrong)
		}
	}
}

type label struct {
	File, Tool, Hint string
	Judged           *bool
}

type score struct {
	rule, hint         string
	claim              bool
	hits, right, wrong int
}

// hit counts a finding: it is right where the claim was judged false.
func (s *score) hit(labels map[label]bool, file, tool string) {
	s.hits++
	judged, ok := labels[label{File: filepath.Base(file), Tool: tool, Hint: s.hint}]
	switch {
	case !ok:
	case judged != s.claim:
		s.right++
	default:
		s.wrong++
	}
}

func readLabels(t *testing.T, path string) map[label]bool {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	labels := map[label]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l label
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Judged != nil {
			labels[label{File: l.File, Tool: l.Tool, Hint: l.Hint}] = *l.Judged
		}
	}
	return labels
}

type tool struct {
	Name, Description string
	Annotations       map[string]any
	sense             verbs.Sense
}

func readTools(t *testing.T, path string) []tool {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tools []tool }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	context := verbs.Names(names)
	for i := range list.Tools {
		list.Tools[i].sense = context.Of(list.Tools[i].Name, list.Tools[i].Description)
	}
	return list.Tools
}

func FuzzOf(f *testing.F) {
	f.Add("get_or_create", "Gets or creates. X")
	f.Add("a.B/cD", "\xff")
	f.Fuzz(func(t *testing.T, tool, description string) {
		context := verbs.Names([]string{tool, tool + "_a", tool + "_b"})
		first := context.Of(tool, description)
		if again := context.Of(tool, description); again != first {
			t.Errorf("%v, then %v", first, again)
		}
		if (first.Kind == verbs.Unknown) != (first.Verb == "") {
			t.Errorf("kind %v with verb %q", first.Kind, first.Verb)
		}
	})
}
