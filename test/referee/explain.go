package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict is what is said of a part.
type Verdict struct {
	Part    *Part
	Legal   bool
	Skipped string // why it was not checked
	Page    string // of an illegal part
}

// check checks one part.
func (h *History) check(part *Part, context *Context, timeout time.Duration, pictures string) Verdict {
	v := Verdict{Part: part}
	if v.Skipped = part.tooLarge(); v.Skipped != "" {
		return v
	}
	var m *Model
	var result porcupine.CheckResult
	var suspect *Model
	ops := part.porcupineOperations()
	deadline := time.Now().Add(timeout)
	for _, inOrder := range []bool{true, false} {
		m = &Model{history: h, part: part, context: context, inOrder: inOrder}
		result = porcupine.CheckOperationsTimeout(m.porcupine(), ops, max(time.Millisecond, time.Until(deadline)))
		if result != porcupine.Illegal || m.overflow.Load() > 0 && !inOrder {
			break
		}
		if inOrder && m.overflow.Load() == 0 {
			suspect = m
		}
	}
	if suspect == nil {
		suspect = m
	}
	switch {
	case m.overflow.Load() > 0:
		v.Skipped = "too many possibilities in one step"
	case result == porcupine.Unknown:
		v.Skipped = fmt.Sprintf("timed out after %s", timeout)
	case result == porcupine.Ok:
		v.Legal = true
		return v
	default:
		v.Page = "ILLEGAL: " + suspect.explain(ops, timeout, pictures)
		return v
	}
	if suspect.inOrder { // a person should look at it
		v.Skipped += ", SUSPECT: illegal if expired reservations are closed in the order of their times"
		v.Page = "SUSPECT: " + suspect.explain(ops, timeout, pictures)
	}
	return v
}

// explain is a page of text on an illegal part: the longest legal beginning, and what the model would have answered after it.
func (m *Model) explain(ops []porcupine.Operation, timeout time.Duration, pictures string) string {
	model := m.porcupine()
	_, info := porcupine.CheckOperationsVerbose(model, ops, timeout)
	var longest []int
	for _, partial := range info.PartialLinearizations() {
		for _, p := range partial {
			if len(p) > len(longest) {
				longest = p
			}
		}
	}
	var page strings.Builder
	fmt.Fprintf(&page, "users %v, %d operations\n\n", m.part.Users, len(ops))
	states := []*State{m.initial()}
	placed := map[int]bool{}
	for _, i := range longest {
		placed[i] = true
		var next []*State
		for _, s := range states {
			next = append(next, m.Next(s, ops[i].Input.(*Op))...)
		}
		states = distinct(next)
	}
	var rest []*Op
	earliest := forever
	for i, o := range ops {
		if !placed[i] {
			rest = append(rest, o.Input.(*Op))
			earliest = min(earliest, o.Return)
		}
	}
	sort.SliceStable(rest, func(i, j int) bool { return rest[i].Returned < rest[j].Returned })
	fmt.Fprintf(&page, "The longest legal order has %d of them. Its last ones:\n", len(longest))
	for _, i := range longest[max(0, len(longest)-8):] {
		fmt.Fprintf(&page, "  %s\n", describe(ops[i].Input.(*Op)))
	}
	fmt.Fprintf(&page, "\nNone of these can come next:\n")
	for _, op := range rest {
		if op.Invoked > earliest {
			continue
		}
		m.judge = &judge{}
		for _, s := range states {
			m.Next(s, op)
		}
		fmt.Fprintf(&page, "  %s\n", describe(op))
		if len(m.judge.lines) == 0 {
			fmt.Fprintf(&page, "      (it could come next, but then others could not, or its batch forbids it)\n")
		}
		for n, line := range m.judge.lines {
			if n == 6 {
				fmt.Fprintf(&page, "      … and %d more\n", len(m.judge.lines)-n)
				break
			}
			fmt.Fprintf(&page, "      %s\n", line)
		}
		m.judge = nil
	}
	fmt.Fprintf(&page, "\nThe model's state before (%d possible):\n", len(states))
	if len(states) > 0 {
		for _, line := range strings.Split(m.describeState(states[0]), "; ") {
			fmt.Fprintf(&page, "  %s\n", line)
		}
	}
	page.WriteString(picture(model, info, pictures, m.part.Users[0]))
	return page.String()
}

// picture writes the library's picture, and says where it is.
func picture(model porcupine.Model, info porcupine.LinearizationInfo, folder string, user int64) string {
	if folder == "" {
		return ""
	}
	path := filepath.Join(folder, fmt.Sprintf("user-%d.html", user))
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = porcupine.VisualizePath(model, info, path)
	}
	if err != nil {
		return fmt.Sprintf("\nNo picture: %v\n", err)
	}
	return fmt.Sprintf("\nPicture: %s\n", path)
}

// describe is an operation and its answer in a line.
func describe(op *Op) string {
	a := &op.Args
	text := fmt.Sprintf("line %d %s@%s %s user %d", op.Line, op.Process, op.Service, op.Operation, *op.User)
	if a.ID != "" {
		text += " " + string(a.ID)
	}
	for _, f := range []struct {
		name string
		v    Opt[int64]
	}{{"units", a.Units}, {"total", a.TotalUnits}, {"limit", a.Limit}, {"delta", a.Delta}, {"to", a.ToUser}} {
		if f.v.Set {
			text += fmt.Sprintf(" %s %d", f.name, f.v.V)
		}
	}
	for _, v := range []Opt[string]{a.Country, a.MessageType, a.Recipient, a.Tag} {
		if v.Or("") != "" {
			text += " " + v.V
		}
	}
	if a.Force.Or(false) {
		text += " force"
	}
	text += " → " + op.Outcome
	switch {
	case op.Outcome == "denied":
		text += " " + op.Reason
	case op.Outcome == "refused":
		text += " " + op.Code
	case op.Answer.State != "":
		text += " " + op.Answer.State
	}
	if op.Answer.Remaining.Set && !op.Answer.Remaining.Null {
		text += fmt.Sprintf(", remaining %d", op.Answer.Remaining.V)
	}
	if op.Answer.Replayed.Or(false) {
		text += ", replayed"
	}
	return text + fmt.Sprintf(" (%s)", span(op.Invoked, op.Returned))
}

// report prints the verdicts, and returns the exit status.
func report(out io.Writer, verdicts []Verdict) int {
	checked, illegal := 0, 0
	skipped := map[string]int{}
	for _, v := range verdicts {
		switch {
		case v.Skipped != "":
			skipped[v.Skipped]++
			fmt.Fprintf(out, "%s\nnot checked: users %v: %s\n", v.Page, v.Part.Users, v.Skipped)
		case v.Legal:
			checked++
		default:
			checked++
			illegal++
			fmt.Fprintf(out, "\n%s\n", v.Page)
		}
	}
	notChecked := 0
	for _, n := range skipped {
		notChecked += n
	}
	fmt.Fprintf(out, "checked: %d, not checked: %d, illegal: %d\n", checked, notChecked, illegal)
	if illegal > 0 {
		return 1
	}
	return 0
}
