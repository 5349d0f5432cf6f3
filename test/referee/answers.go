package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

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
	Slots        []QuotaFields `json:"slots"`
	keys         map[string]json.RawMessage
}

func (a *Arguments) UnmarshalJSON(data []byte) error {
	type plain Arguments
	if err := json.Unmarshal(data, (*plain)(a)); err != nil {
		return err
	}
	return json.Unmarshal(data, &a.keys)
}

// wholeList says whether a list was asked for from its beginning and without filters.
func (op *Op) wholeList() bool {
	for key := range op.Args.keys {
		if key != "user_id" && key != "page_size" && key != "sort" {
			return false
		}
	}
	return op.Answer.NextCursor.Set && op.Answer.NextCursor.Null
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
