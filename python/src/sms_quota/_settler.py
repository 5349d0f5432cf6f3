"""
What is settled in the background, because the service did not confirm it: again and again until it is certain.

- "not-sent": its units are given back. Released first, because a commit that arrives after the release is refused; what a call
  for this message may have committed is refunded then, unless another sender has committed or booked it.
- "sent": its units are committed; by force only if the reservation has expired meanwhile.
- "verified": its code was entered.
"""

import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Literal, Mapping, Sequence, cast

from ._api import Code, Granted, Operation, Result, Settled
from ._errors import UnavailableError, UnknownIfSent
from ._types import OnRepeated, Outcome, Sent, Unsettled
from ._users import Json, message_key, user_of

MAX_UNSETTLED = 10_000
#: Messages of one batch.
MAX_AT_ONCE = 500
AGAIN_SECONDS = 1.0
#: There is nothing to release or to refund, or the user was erased, or no user has the reference.
GONE: frozenset[Code] = frozenset({"not_found", "unknown_user"})
#: What the service refuses, for example because the token may not force, is tried again later.
REFUSED_AGAIN_SECONDS = 60.0
FIRST_OPERATIONS: Mapping[Outcome, Operation] = {"sent": "commit", "not-sent": "release", "verified": "feedback"}


@dataclass(frozen=True)
class Entry:
    message: Unsettled
    #: Whether a call of the one who gives it back may have committed it. Otherwise another one has, and has sent it.
    may_be_committed: bool
    #: Whether that one has made the reservation, and not repeated it.
    is_maker: bool


@dataclass(frozen=True)
class Step:
    entry: Entry
    #: Of a batch, or "find": a call of its own.
    operation: Operation | Literal["find"]
    is_forced: bool = False

    @property
    def message(self) -> Unsettled:
        return self.entry.message

    def request(self) -> Json:
        more = {"force": True} if self.is_forced else {"verified": True} if self.operation == "feedback" else {}
        return {"op": self.operation, **user_of(vars(self.message)), "id": self.message.id, **more}


class Settler:
    """Keeps what is open, and judges the answers; the client makes the calls. Threads may share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: Each with the time before which it is not tried again.
        self._open: dict[str, tuple[Entry, float]] = {}
        self._lock = threading.Lock()

    def add(
        self,
        user_id: int | None,
        id: str,
        outcome: Outcome,
        *,
        user_ref: str | None = None,
        may_be_committed: bool = True,
        is_maker: bool = False,
    ) -> None:
        """What was sent stays charged: of two sends of a message, the one that failed gives nothing back."""
        message = Unsettled(user_id, id, outcome, datetime.now(timezone.utc), user_ref)
        key = _key_of(message)
        with self._lock:
            known, _ = self._open.get(key, (None, 0.0))
            if known is not None and known.message.outcome == "sent" and outcome == "not-sent":
                return
            if known is not None:
                may_be_committed = may_be_committed or known.may_be_committed
                is_maker = is_maker or known.is_maker
            self._open[key] = (Entry(message, may_be_committed, is_maker), self._clock())

    def find(self, key: str) -> Unsettled | None:
        """:param key: of the message, see `message_key`"""
        with self._lock:
            found = self._open.get(key)
        return None if found is None else found[0].message

    def list(self) -> list[Unsettled]:
        with self._lock:
            return [entry.message for entry, _ in self._open.values()]

    def is_any_left(self) -> bool:
        return bool(self._open)

    def assert_room(self) -> None:
        """Raises UnavailableError if there is no room for what a further send may leave open."""
        if len(self._open) >= MAX_UNSETTLED:
            raise UnavailableError(self._told(), may_have_taken_effect=False, is_outage=False)

    def assert_none_left(self) -> None:
        """Raises UnavailableError."""
        if self._open:
            raise UnavailableError(self._told(), may_have_taken_effect=True)

    def hurry(self) -> int:
        """Lets all be tried at once. Answers how many batches that takes."""
        with self._lock:
            for key, (entry, _) in self._open.items():
                self._open[key] = (entry, self._clock())
            return -(-len(self._open) // MAX_AT_ONCE)

    def due(self) -> Sequence[Step]:
        """The first steps of those that are to be tried now."""
        now = self._clock()
        with self._lock:
            due = [entry for entry, at in self._open.values() if at <= now][:MAX_AT_ONCE]
        return [Step(entry, FIRST_OPERATIONS[entry.message.outcome]) for entry in due]

    def note(self, steps: Sequence[Step], results: Sequence[Result]) -> Sequence[Step]:
        """Answers the steps that follow at once."""
        return [further for step, result in zip(steps, results, strict=True) for further in self._note(step, result)]

    def postpone(self, steps: Sequence[Step], error: Exception) -> None:
        """:param error: why there is no answer to them"""
        seconds = AGAIN_SECONDS if isinstance(error, UnavailableError) else REFUSED_AGAIN_SECONDS
        for step in steps:
            self._postpone(step, seconds)

    def _note(self, step: Step, result: Result) -> Sequence[Step]:
        status, code = result["status"], _code_of(result["body"])
        is_closed = code == "reservation_closed"
        if step.operation == "release" and (status < 300 or is_closed):
            is_committed = is_closed or result["body"]["committed"] > 0
            if is_committed and step.entry.may_be_committed:
                return [Step(step.entry, "find")]
        if step.operation == "find" and status < 300 and not is_sent_by_another(result["body"], step.entry):
            return [Step(step.entry, "refund")]
        if step.operation == "commit" and is_closed and not step.is_forced:
            return [Step(step.entry, "commit", is_forced=True)]
        if status < 300 or code in GONE or (step.operation != "commit" and is_closed):
            self._remove(step)
        else:
            self._postpone(step, AGAIN_SECONDS if status in (429, 503) else REFUSED_AGAIN_SECONDS)
        return []

    def _remove(self, step: Step) -> None:
        key = _key_of(step.message)
        with self._lock:
            if self._is_open(step):
                del self._open[key]

    def _postpone(self, step: Step, seconds: float) -> None:
        key = _key_of(step.message)
        with self._lock:
            if self._is_open(step):
                self._open[key] = (step.entry, self._clock() + seconds)

    def _is_open(self, step: Step) -> bool:
        found = self._open.get(_key_of(step.message))
        return found is not None and found[0] is step.entry

    def _told(self) -> str:
        return f"the service has not confirmed yet what became of {len(self._open)} messages"


def is_sent_by_another(found: Json, entry: Entry) -> bool:
    """
    What was booked by force was sent. A commit with another sender's token is that sender's; with the same token, that is not
    known.
    """
    made_by, settled_by = found["made_by"], found["settled_by"]
    is_of_another = entry.is_maker and None not in (made_by, settled_by) and made_by != settled_by
    return is_of_another or any(action["action"] == "force" for action in found["actions"])


def sent_before(unsettled: Unsettled) -> Sent[Any]:
    """What is known without asking the service. Raises UnavailableError while the units are given back."""
    if unsettled.outcome == "not-sent":
        message = "the units of an earlier attempt are being given back"
        raise UnavailableError(message, may_have_taken_effect=True, is_outage=False)
    return Sent(sent="before")


def sent_in_outage(
    outcome: Literal["sent", "unknown", "failed"] | None, commits_after_send: bool, on_repeated: OnRepeated
) -> Sent[Any] | None:
    """What this client has made of the message before: asked in an outage, the service cannot tell."""
    if outcome == "sent" or (outcome == "unknown" and not commits_after_send):
        return Sent(sent="before")
    return unknown_before(None) if outcome == "unknown" and on_repeated == "unknown" else None


def committed_before(reservation: Granted, settled: Settled) -> Sent[Any]:
    """Of what was committed in between: by another call, or by this commit itself, which a proxy has repeated."""
    error = UnknownIfSent("another call with this id has committed it, or the network has repeated the commit of this one")
    return Sent(sent=None, error=error, reservation=committed_as(reservation, settled))


def committed_as(reservation: Granted, settled: Settled) -> Granted:
    return cast(Granted, {**reservation, **settled, "replayed": reservation["replayed"]})


def unknown_before(reservation: Granted | None) -> Sent[Any]:
    error = UnknownIfSent("an earlier call with this id has not said whether it sent the message")
    return Sent(sent=None, error=error, reservation=reservation)


def _key_of(message: Unsettled) -> str:
    return message_key(vars(message))


def _code_of(body: Any) -> Code | None:
    return cast(Code | None, body.get("code"))
