package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
	Batch     *flexID    `json:"batch"`
	Index     int        `json:"index"`
	Answer    *Answer    `json:"answer"`
	Invoked   int64      `json:"-"` // absolute, by the recorder's clock
	Returned  int64      `json:"-"` // absolute, forever if the outcome is unknown
	Lo, Hi    int64      `json:"-"` // between these, by its own clock, the service decided
	slot      int        // the place of its reservation in a state
	others    []int64    // further users: the other side of a transfer
	place     batchPlace // where it stands among the known operations of its user in its batch
}

type batchPlace struct{ batch, position int }

const forever = int64(1) << 61

// lateEffect is how long after its call an operation of unknown outcome may still be decided. guarantees.md, "Acknowledged means
// durable": "a change may have taken effect, or may do so within seconds". No figure is given, and the time at which the caller gave
// up is not recorded, so this is ample.
const lateEffect = int64(30 * time.Second / time.Microsecond)

// Opt is a field that may be missing, null, or have a value: an update takes these for three things.
type Opt[T any] struct {
	Set, Null bool
	V         T
}

func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	if string(data) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.V)
}

// Or is the value, or the other one if there is none.
func (o Opt[T]) Or(other T) T {
	if !o.Set || o.Null {
		return other
	}
	return o.V
}

// flexID is an id as text: those of quotas are numbers, those of reservations are texts.
type flexID string

func (id *flexID) UnmarshalJSON(data []byte) error {
	*id = flexID(strings.Trim(string(data), `"`))
	return nil
}

func (id flexID) number() int64 {
	var n int64
	if _, err := fmt.Sscanf(string(id), "%d", &n); err != nil {
		return -1
	}
	return n
}

// instant is a time of the API in microseconds since 1970.
type instant int64

func (i *instant) UnmarshalJSON(data []byte) error {
	t, err := time.Parse(time.RFC3339Nano, strings.Trim(string(data), `"`))
	if err != nil {
		return err
	}
	*i = instant(t.UnixMicro())
	return nil
}

// QuotaFields are the settings of a quota: in bodies, in answers and in the slots of a plan.
type QuotaFields struct {
	Kind         Opt[string]   `json:"kind"`
	Limit        Opt[int64]    `json:"limit"`
	Period       Opt[string]   `json:"period"`
	Anchor       Opt[string]   `json:"anchor"`
	TimeZone     Opt[string]   `json:"time_zone"`
	Per          Opt[string]   `json:"per"`
	Counts       Opt[string]   `json:"counts"`
	Rollover     Opt[int64]    `json:"rollover_limit"`
	Overage      Opt[int64]    `json:"overage_limit"`
	Priority     Opt[int64]    `json:"priority"`
	StartsAt     Opt[instant]  `json:"starts_at"`
	ExpiresAt    Opt[instant]  `json:"expires_at"`
	Countries    Opt[[]string] `json:"countries"`
	MessageTypes Opt[[]string] `json:"message_types"`
	Enabled      Opt[bool]     `json:"enabled"`
	ExternalRef  Opt[string]   `json:"external_ref"`
	LastsDays    Opt[int64]    `json:"lasts_days"`
	Slot         string        `json:"slot"`
}

// Arguments are the body as sent, beside the parts of the path.
type Arguments struct {
	QuotaFields
	ID           flexID     `json:"id"`
	QuotaID      Opt[int64] `json:"quota_id"`
	Units        Opt[int64] `json:"units"`
	Message      *struct{ To string }
	Country      Opt[string]   `json:"country"`
	Recipient    Opt[string]   `json:"recipient"`
	Tag          Opt[string]   `json:"tag"`
	MessageType  Opt[string]   `json:"message_type"`
	Messages     Opt[int64]    `json:"messages"`
	TTL          Opt[int64]    `json:"ttl_seconds"`
	OnExpiry     Opt[string]   `json:"on_expiry"`
	AllowPartial Opt[bool]     `json:"allow_partial"`
	Force        Opt[bool]     `json:"force"`
	TotalUnits   Opt[int64]    `json:"total_units"`
	Verified     Opt[bool]     `json:"verified"`
	OpeningUsed  Opt[int64]    `json:"opening_used"`
	BelowUsage   Opt[bool]     `json:"allow_below_usage"`
	Delta        Opt[int64]    `json:"delta"`
	Until        Opt[string]   `json:"until"` // a time of a pause, `window_end` of an adjustment
	PlanID       Opt[int64]    `json:"plan_id"`
	IsDefault    Opt[bool]     `json:"is_default"`
	Reset        bool          `json:"reset"`
	Fresh        bool          `json:"fresh"`
	UserID       Opt[int64]    `json:"user_id"`
	FromUser     Opt[int64]    `json:"from_user_id"`
	ToUser       Opt[int64]    `json:"to_user_id"`
	PauseID      Opt[int64]    `json:"pause_id"`
	Status       Opt[string]   `json:"status"`
	Slots        []QuotaFields `json:"slots"`
}

// quota is the id of the quota that an administrator's call names, in either spelling.
func (a *Arguments) quota() int64 {
	if a.QuotaID.Set {
		return a.QuotaID.V
	}
	return a.ID.number()
}

// Answer is the body of an answer: the fields of all kinds of answers that the referee looks at.
type Answer struct {
	QuotaFields
	ID          flexID        `json:"id"`
	UserID      Opt[int64]    `json:"user_id"`
	Granted     Opt[bool]     `json:"granted"`
	State       string        `json:"state"`
	Units       Opt[int64]    `json:"units"`
	Committed   Opt[int64]    `json:"committed"`
	Released    Opt[int64]    `json:"released"`
	Refunded    Opt[int64]    `json:"refunded"`
	Unfunded    Opt[int64]    `json:"unfunded"`
	Verified    Opt[bool]     `json:"verified"`
	Draws       Opt[[]Drawn]  `json:"draws"`
	Remaining   Opt[int64]    `json:"remaining"`
	Replayed    Opt[bool]     `json:"replayed"`
	Reason      string        `json:"reason"`
	Limiting    Opt[int64]    `json:"limiting_quota_id"`
	RetryAt     Opt[instant]  `json:"retry_at"`
	WouldDeny   string        `json:"would_deny"`
	Country     Opt[string]   `json:"country"`
	Used        Opt[int64]    `json:"used"`
	Reserved    Opt[int64]    `json:"reserved"`
	RolledOver  Opt[int64]    `json:"rolled_over"`
	OverageNow  Opt[int64]    `json:"overage"`
	WindowStart Opt[instant]  `json:"window_start"`
	Status      flexID        `json:"status"` // a number in a problem
	Version     Opt[int64]    `json:"version"`
	IsDefault   Opt[bool]     `json:"is_default"`
	Plan        Opt[PlanName] `json:"plan"`
	Slots       []SlotAnswer  `json:"slots"`
	Ended       []int64       `json:"ended"`
	Transfer    *Transfer     `json:"transfer"`
	Quota       *Answer       `json:"quota"`
	Items       []*Answer     `json:"items"`
	NextCursor  Opt[string]   `json:"next_cursor"`
	TotalPages  Opt[int64]    `json:"total_pages"`
	Code        string        `json:"code"`
}

// Drawn is one entry of `draws`.
type Drawn struct {
	QuotaID     int64        `json:"quota_id"`
	Kind        string       `json:"kind"`
	Units       int64        `json:"units"`
	WindowStart Opt[instant] `json:"window_start"`
}

type PlanName struct {
	ID      int64  `json:"id"`
	Version int64  `json:"version"`
	Slot    string `json:"slot"`
}

type SlotAnswer struct {
	QuotaFields
	QuotaID int64    `json:"quota_id"`
	Outcome string   `json:"outcome"`
	Kept    []string `json:"kept"`
	Carried int64    `json:"carried"`
}

type Transfer struct {
	ID       int64      `json:"id"`
	UserID   int64      `json:"user_id"`
	QuotaID  int64      `json:"quota_id"`
	ToUser   Opt[int64] `json:"to_user_id"`
	ToQuota  Opt[int64] `json:"to_quota_id"`
	Units    int64      `json:"units"`
	Returned int64      `json:"returned"`
}

// UnmarshalJSON takes a bare list for a page of items, too.
func (a *Answer) UnmarshalJSON(data []byte) error {
	type plain Answer
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, &a.Items)
	}
	return json.Unmarshal(data, (*plain)(a))
}

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
			if fault.Fault != "clock_step" || op.Hi < h.Epoch+fault.At {
				continue
			}
			if fault.ByMS < 0 {
				op.Lo += fault.ByMS * 1000
			} else {
				op.Hi += fault.ByMS * 1000
			}
		}
	}
}
