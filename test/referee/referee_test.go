package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Histories by hand. Times are milliseconds after the epoch, which is 2026-09-21T14:13:20Z; the clock is exact unless a case says so.
const epoch = 1790000000000

type history struct {
	uncertainty int
	head        string // further fields of the header
	lines       []string
	clients     int
}

func line(user int, process string, from, to int, operation, arguments, outcome, answer string) string {
	service := "a"
	if i := strings.Index(process, "@"); i > 0 {
		process, service = process[:i], process[i+1:]
	}
	returned := fmt.Sprint(to * 1000)
	if outcome == "unknown" {
		returned = "null"
	}
	code := ""
	if i := strings.Index(outcome, " "); i > 0 {
		key := map[string]string{"denied": "reason", "refused": "code"}[outcome[:i]]
		code = fmt.Sprintf(`,"%s":"%s"`, key, outcome[i+1:])
		outcome = outcome[:i]
	}
	who := fmt.Sprint(user)
	if user < 0 {
		who = "null"
	}
	if answer == "" {
		answer = "null"
	}
	return fmt.Sprintf(`{"kind":"operation","process":"%s","service":"%s","user":%s,"operation":"%s","arguments":%s,"invoked":%d,"returned":%s,"outcome":"%s"%s,"answer":%s}`,
		process, service, who, operation, arguments, from*1000, returned, outcome, code, answer)
}

// keyed is a line of a call with an `Idempotency-Key`.
func keyed(key, line string) string { return strings.Replace(line, "{", `{"key":"`+key+`",`, 1) }

// quota is the making of a quota, by an administrator, before the senders begin.
func quota(id, user int, fields string) string {
	return line(user, "admin", -1000+id, -999+id, "create_quota", "{"+fields+"}", "ok", fmt.Sprintf(`{"id":%d,%s}`, id, fields))
}

func at(ms int) string {
	return time.UnixMilli(epoch + int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
}

func (h history) text() string {
	head := fmt.Sprintf(`{"kind":"run","seed":1,"epoch_ms":%d,"clock_uncertainty_ms":%d%s}`, epoch, h.uncertainty, h.head)
	return head + "\n" + strings.Join(h.lines, "\n") + "\n"
}

type example struct {
	name  string
	rule  string // what an illegal one breaks, as its page says; "" if it is legal
	given history
}

func TestHistories(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			h, err := readHistory(strings.NewReader(e.given.text()))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range h.verdicts(20*time.Second, "") {
				if v.Skipped != "" {
					t.Fatalf("not checked: %s", v.Skipped)
				}
				if e.rule == "" && !v.Legal {
					t.Fatalf("it is legal:\n%s", v.Page)
				}
				if e.rule != "" && !v.Legal {
					if !strings.Contains(v.Page, e.rule) {
						t.Fatalf("the page does not name %q:\n%s", e.rule, v.Page)
					}
					return
				}
			}
			if e.rule != "" {
				t.Fatalf("it breaks %q", e.rule)
			}
		})
	}
}

func TestRun(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pictures := t.TempDir()
	for _, e := range []struct {
		name   string
		path   string
		status int
		says   string
	}{
		{"legal", file(examples()[0].given.text()), 0, "checked: 1, not checked: 0, illegal: 0"},
		{"illegal", file(examples()[1].given.text()), 1, "illegal: 1"},
		{"no file", "/nowhere", 2, "no such file"},
		{"no header", file(`{"kind":"operation"}`), 2, "header"},
		{"too many clients", file(crowd()), 0, "9 clients, more than 8"},
	} {
		var out bytes.Buffer
		if status := run([]string{e.path, "--picture", pictures}, &out, &out); status != e.status || !strings.Contains(out.String(), e.says) {
			t.Errorf("%s: %d, not %d: %s", e.name, status, e.status, out.String())
		}
	}
	if found, _ := filepath.Glob(filepath.Join(pictures, "*.html")); len(found) != 1 {
		t.Errorf("%d pictures, not 1", len(found))
	}
}

func crowd() string {
	var h history
	for i := 0; i < 9; i++ {
		h.lines = append(h.lines, line(7, fmt.Sprint("sender-", i), i, i+1, "check", `{"units":1}`, "denied no_quota", ""))
	}
	return h.text()
}
