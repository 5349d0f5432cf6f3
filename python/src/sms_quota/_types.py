"""The requests and answers of senders, with the names of the API."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Mapping, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

Operation = Literal["check", "reserve", "consume", "commit", "release", "refund", "feedback"]


class Message(TypedDict):
    """The service counts the segments, which are the units, and finds the country."""

    to: str
    text: str


class Draw(TypedDict):
    quota_id: int
    kind: Literal["grant", "cap"]
    units: int
    window_start: str


class Pause(TypedDict):
    """What pauses messages to a country."""

    id: int
    #: None: until it is lifted.
    until: str | None
    reason: str | None


class Denied(TypedDict):
    """A denial is an answer, not an error. The same id may ask again."""

    granted: Literal[False]
    #: The user, if the request named one by reference that exists.
    user_id: NotRequired[int]
    #: As the request named the user.
    user_ref: NotRequired[str]
    reason: Literal["no_quota", "destination_paused", "cap_reached", "quota_exhausted"]
    remaining: int | None
    limiting_quota_id: int | None
    #: It cannot be granted before this time; None if waiting alone does not help.
    retry_at: str | None
    #: With the reason "destination_paused": the pause that lasts longest.
    pause: NotRequired[Pause]


class Settled(TypedDict):
    """A reservation."""

    id: str
    user_id: int
    #: As the request named the user.
    user_ref: NotRequired[str]
    state: Literal["reserved", "committed", "released", "refunded", "expired"]
    units: int
    committed: int
    released: int
    refunded: int
    unfunded: int
    #: Whether the code of the message was entered.
    verified: bool
    draws: list[Draw]
    expires_at: str | None
    replayed: bool


class Granted(Settled):
    granted: Literal[True]
    #: What the same request could still draw; None if unbounded.
    remaining: int | None


class Check(TypedDict):
    """What a reserve would be granted now. None of it is taken."""

    granted: Literal[True]
    #: Absent if the request named by reference a user who is made by the first message.
    user_id: NotRequired[int]
    #: As the request named the user.
    user_ref: NotRequired[str]
    units: int
    unfunded: int
    draws: list[Draw]
    remaining: int | None


class Result(TypedDict):
    """The answer to an operation of a batch: that of the single call, or a problem if `status` is 400 or more."""

    status: int
    body: dict[str, Any]


class Asked(TypedDict):
    """What a check, a reserve or a consume asks for: either `units` or a `message`."""

    units: NotRequired[int]
    message: NotRequired[Message]
    country: NotRequired[str]
    #: Who gets the message, beside `units`; of a `message` it is `to`. Caps on each recipient count it.
    recipient: NotRequired[str]
    #: What caps on each tag count: a campaign, a department.
    tag: NotRequired[str]
    message_type: NotRequired[str]
    #: How many messages the units are for; one by default.
    messages: NotRequired[int]
    explain: NotRequired[bool]


class Reserved(Asked):
    ttl_seconds: NotRequired[int]
    on_expiry: NotRequired[Literal["release", "commit"]]
    allow_partial: NotRequired[bool]


class Consumed(Reserved):
    #: The message was sent already: books it past any limit.
    force: NotRequired[bool]


@dataclass(frozen=True)
class Sent(Generic[T]):
    """What became of a message."""

    #: True if it was sent, and False if the quotas deny it.
    #:
    #: None if `send` could not tell, or was not called, because an earlier call with this id has reserved units and nothing
    #: says whether it sent.
    #:
    #: "before" if nothing was sent now: the units are charged for an earlier call with this id, which has begun its send and
    #: not said that it failed.
    sent: bool | Literal["before"] | None
    #: Why it was denied.
    denied: Denied | None = None
    #: What `send` returned.
    value: T | None = None
    #: None if it was not sent, or if the commit after the send failed with `error`: then it is repeated in the background.
    settled: Settled | None = None
    error: Exception | None = None
    reservation: Granted | None = None


#: What it means that an earlier call with the same id has reserved units and not committed them.
OnRepeated = Literal["unknown", "send"]

#: "verified": that its code was entered.
Outcome = Literal["sent", "not-sent", "verified"]


@dataclass(frozen=True)
class Unsettled:
    """A message of which the service has not confirmed yet what became of it."""

    #: None if a call of `verified` named the user by reference.
    user_id: int | None
    id: str
    outcome: Outcome
    #: Since when.
    at: datetime
    #: As the call named the user.
    user_ref: str | None = None


Json = Mapping[str, Any]
