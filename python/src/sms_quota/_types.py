"""What becomes of messages, as the client says it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from ._api import Denied, Granted, Settled

T = TypeVar("T")

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
