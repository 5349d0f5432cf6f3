"""
What `replayed` tells the caller: whether the caller has asked before. The service cannot know that. It says so of each call
whose effect is there, also if an attempt of the same call has made it, whose answer was lost.

    the answer says `replayed`, and                                     the caller sees
    no earlier attempt of this call may have taken effect               True
    this client was called so before                                    True
    its reservation is not as this call would have left it              True
    otherwise: an attempt of this call, or another process, was first   False
"""

import threading
from typing import Any, Callable, Literal, Mapping

from ._api import OperationId
from ._calls import Answer, Call, Steps, steps_of
from ._errors import QuotaError, UnavailableError
from ._processes import Processes
from ._users import message_key

#: Some 5 MB.
MAX_REMEMBERED = 50_000


class Memory:
    """Keys; the oldest are forgotten first. Threads may share it."""

    def __init__(self, limit: int = MAX_REMEMBERED) -> None:
        self._limit = limit
        self._keys: dict[str, None] = {}
        self._lock = threading.Lock()

    def add(self, key: str) -> bool:
        """Answers whether it is new."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys[key] = None
            if len(self._keys) > self._limit:
                del self._keys[next(iter(self._keys))]
            return True

    def take(self, key: str) -> bool:
        """Forgets it. Answers whether it was there."""
        with self._lock:
            return self._keys.pop(key, self) is None


#: "unknown": it is under way, or said that it cannot tell.
Outcome = Literal["sent", "unknown", "failed"]


class Sends:
    """
    What this client knows of the sends that it has begun, for when the service is away and cannot tell; the oldest are
    forgotten first. Threads may share it.
    """

    def __init__(self, limit: int = MAX_REMEMBERED) -> None:
        self._limit = limit
        self._outcomes: dict[str, Outcome] = {}
        self._lock = threading.Lock()

    def note(self, key: str, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes.pop(key, None)
            self._outcomes[key] = outcome
            if len(self._outcomes) > self._limit:
                del self._outcomes[next(iter(self._outcomes))]

    def get(self, key: str) -> Outcome | None:
        return self._outcomes.get(key)


def sender_steps(
    operation: OperationId, call: Call, called: Memory, clock: Callable[[], float], processes: Processes
) -> Steps:
    """
    The steps of an operation of a sender, or of a batch.

    :param called: the calls that this client has made
    """
    asked = call.body["operations"] if operation == "batch" else [{"op": operation, **call.body}]
    keys = [f"{one.get('op')} {message_key(one)}" for one in asked]
    first = [called.add(key) for key in keys]

    def forget(number: int) -> None:
        if first[number]:
            called.take(keys[number])

    try:
        answer = yield from steps_of(call, clock(), clock, processes)
    except (QuotaError, UnavailableError) as error:
        if not error.may_have_taken_effect:
            for number in range(len(keys)):
                forget(number)
        raise

    def seen(number: int, value: Any) -> Any:
        # The service does not remember a denial either.
        if value.get("granted") is False or value.get("status", 0) in range(400, 500):
            forget(number)
        return _as_first(str(asked[number].get("op")), value) if answer.is_uncertain and first[number] else value

    if operation != "batch":
        return Answer(seen(0, answer.value), answer.is_uncertain)
    results = [
        {**result, "body": seen(number, result["body"])} for number, result in enumerate(answer.value["results"])
    ]
    return Answer({**answer.value, "results": results}, answer.is_uncertain)


def _as_first(operation: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to a call that this client was not called so before, and of which an earlier attempt may have taken effect."""
    if answer.get("replayed") is not True or not _is_as_left(operation, answer):
        return answer
    return {**answer, "replayed": False}


def _is_as_left(operation: str, answer: Mapping[str, Any]) -> bool:
    """Whether a reservation is as the call would have left it. A settlement does not show it."""
    if operation == "reserve":
        return (answer["state"], answer["committed"], answer["released"]) == ("reserved", 0, 0)
    return operation != "consume" or (answer["state"], answer["refunded"]) == ("committed", 0)
