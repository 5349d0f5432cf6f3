package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// History is what one run wrote (HISTORIES.md), read into operations with absolute times in microseconds since 1970.
type History struct {
	Epoch       int64
	Uncertainty int64
	Observe     bool
	Operations  []*Op
	Faults      []Fault
}

// Fault is a line for people. It widens times (pauses, clock steps) and excuses no answer.
type Fault struct {
	Fault   string `json:"fault"`
	Service string `json:"service"`
	At      int64  `json:"at"`
	Until   *int64 `json:"until"`
	ByMS    int64  `json:"by_ms"`
}

// Op is one operation of one client.
type Op struct {
	Line      int        `json:"-"`
	Kind      string     `json:"kind"`
	Process   string     `json:"process"`
	Service   string     `json:"service"`
	User      *int64     `json:"user"`
	Operation string     `json:"operation"`
	Args      Arguments  `json:"arguments"`
	InvokedAt *int64     `json:"invoked"`
	Returns   *int64     `json:"returned"`
	Outcome   string     `json:"outcome"`
	Code      string     `json:"code"`
	Reason    string     `json:"reason"`
	Key       string     `json:"key"` // its `Idempotency-Key`
	Batch     *flexID    `json:"batch"`
	Index     int        `json:"index"`
	Answer    *Answer    `json:"answer"`
	Invoked   int64      `json:"-"` // absolute, by the recorder's clock
	Returned  int64      `json:"-"` // absolute, forever if the outcome is unknown
	Lo, Hi    int64      `json:"-"` // between these, by its own clock, the service decided
	gap       times      // but not between these, if any: the clock passed them over
	calm      bool       // before the senders began, or after they ended
	slot      int        // the place of its reservation in a state
	others    []int64    // further users: the other side of a transfer
	mayForget bool       // ids that nothing changed for as long as they are kept may be forgotten by then
	passed    bool       // and what it changes is kept on
	place     batchPlace // where it stands among the known operations of its user in its batch
}

type batchPlace struct{ batch, position int }

const forever = int64(1) << 61

// lateEffect is how long after its call an operation of unknown outcome may still be decided. guarantees.md, "Acknowledged means
// durable": "a change may have taken effect, or may do so within seconds". No figure is given, and the time at which the caller gave
// up is not recorded, so this is ample.
const lateEffect = int64(30 * time.Second / time.Microsecond)

// retention: contract 7.4, "default 35 days after a reservation's last change; after that the id is forgotten and settling it is 404".
// Only a step of the clock leads past it. How soon an id is forgotten then is not said.
const retention = 35 * 24 * 3600 * second

type header struct {
	Epoch       int64  `json:"epoch_ms"`
	Uncertainty int64  `json:"clock_uncertainty_ms"`
	SetUp       []*Op  `json:"set_up"`
	Enforcement string `json:"enforcement"` // "observe" for a run in observe mode (not in HISTORIES.md)
}

type ending struct {
	At   int64 `json:"at"`
	Rows []*Op `json:"rows"`
}

// readHistory reads a file in the form of HISTORIES.md.
func readHistory(in io.Reader) (*History, error) {
	h := &History{}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	began, ended := false, false
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := h.readLine(lines.Bytes(), n, &began, &ended); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !began {
		return nil, fmt.Errorf("no header: the first line must have kind \"run\"")
	}
	h.settleTimes()
	return h, nil
}

func (h *History) readLine(line []byte, n int, began, ended *bool) error {
	var kind struct{ Kind string }
	if err := json.Unmarshal(line, &kind); err != nil {
		return err
	}
	if *began == (kind.Kind == "run") {
		return fmt.Errorf("kind %q: the header must be the first line, and no other", kind.Kind)
	}
	if *ended {
		return fmt.Errorf("a line after the one of kind \"end\"")
	}
	switch kind.Kind {
	case "run":
		var head header
		if err := json.Unmarshal(line, &head); err != nil {
			return err
		}
		*began = true
		h.Epoch, h.Uncertainty, h.Observe = head.Epoch*1000, head.Uncertainty*1000, head.Enforcement == "observe"
		for i, op := range head.SetUp {
			op.calm = true
			if op.InvokedAt == nil { // made one by one, before the senders began
				from := int64(i-len(head.SetUp)) * 1000
				to := from + 900
				op.InvokedAt, op.Returns = &from, &to
			}
			if err := h.add(op, n); err != nil {
				return fmt.Errorf("set_up %d: %w", i, err)
			}
		}
	case "operation":
		op := &Op{}
		if err := json.Unmarshal(line, op); err != nil {
			return err
		}
		return h.add(op, n)
	case "fault":
		var fault Fault
		if err := json.Unmarshal(line, &fault); err != nil {
			return err
		}
		h.Faults = append(h.Faults, fault)
	case "end":
		var end ending
		if err := json.Unmarshal(line, &end); err != nil {
			return err
		}
		*ended = true
		for i, op := range end.Rows {
			op.calm = true
			if op.InvokedAt == nil { // read after all is calm
				at := end.At + int64(i)*10
				to := at + 5
				op.InvokedAt, op.Returns = &at, &to
			}
			if err := h.add(op, n); err != nil {
				return fmt.Errorf("rows %d: %w", i, err)
			}
		}
	default:
		return fmt.Errorf("kind %q is not known", kind.Kind)
	}
	return nil
}

func (h *History) add(op *Op, line int) error {
	op.Line = line
	if op.InvokedAt == nil {
		return fmt.Errorf("operation without `invoked`")
	}
	switch op.Outcome {
	case "ok", "denied", "refused":
		if op.Returns == nil || *op.Returns < *op.InvokedAt {
			return fmt.Errorf("outcome %q needs `returned`, not before `invoked`", op.Outcome)
		}
	case "unknown":
		op.Returns, op.Answer = nil, nil
	default:
		return fmt.Errorf("outcome %q: ok, denied, refused or unknown are", op.Outcome)
	}
	if op.Operation == "" {
		return fmt.Errorf("no `operation`")
	}
	if op.Answer == nil {
		op.Answer = &Answer{}
	}
	if op.Code == "" {
		op.Code = op.Answer.Code
	}
	if op.Reason == "" {
		op.Reason = op.Answer.Reason
	}
	h.Operations = append(h.Operations, op)
	return nil
}

// settleTimes makes times absolute, and says between which times of its own clock the service decided.
func (h *History) settleTimes() {
	for _, op := range h.Operations {
		op.Invoked, op.Returned = h.Epoch+*op.InvokedAt, forever
		op.Lo, op.Hi = op.Invoked-h.Uncertainty, op.Invoked+lateEffect+h.Uncertainty
		if op.Returns != nil {
			op.Returned = h.Epoch + *op.Returns
			op.Hi = op.Returned + h.Uncertainty
		}
		for _, fault := range h.Faults { // HISTORIES.md: "never excuses a wrong answer, except clock_step"
			if fault.Fault != "clock_step" || op.Returns != nil && *op.Returns < fault.At {
				continue
			}
			by, passed := fault.ByMS*1000, fault.Until != nil && *op.InvokedAt >= *fault.Until
			switch { // while the clock steps, either may have been read
			case passed:
				op.Lo, op.Hi = op.Lo+by, op.Hi+by
			case by < 0:
				op.gap, op.Lo = times{op.Hi + by + 1, op.Lo - 1}, op.Lo+by
			default:
				op.gap, op.Hi = times{op.Hi + 1, op.Lo + by - 1}, op.Hi+by
			}
			if by >= retention {
				op.mayForget, op.passed = true, passed
			}
		}
	}
}
