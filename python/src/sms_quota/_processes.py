"""
The processes of the service, by their URLs: which one a call goes to, and which are avoided.

A user belongs to one of them by rendezvous hashing (highest random weight), the same in every client and in any order of the URLs: each
URL has a weight for each user, and the highest one wins. The weight is FNV-1a (32 bits) of `<url> <user>`, the id or `ref:` and the
encoded reference, finished as in MurmurHash3. `processes.ts` of the client for JavaScript has the same, and test/client/rendezvous.json what both must answer.

A process is avoided after a failure. When that time is over, one call looks, while the others still avoid it. Clients that saw the same
failure look at different times. If all are avoided, the calls take turns at them, and the first answer ends it for all: what they had in
common, such as the database, is back.
"""

import math
import random
import threading
from typing import Callable, Literal, Sequence

import httpx

from ._users import UserKey

FIRST_AVOIDED = 1.0
MAX_AVOIDED = 10.0
#: A single late answer says little.
LATE_TO_AVOID = 3
FNV_OFFSET = 0x811C9DC5

#: What became of an attempt. "late": there was no answer in the time that it had.
Outcome = Literal["answered", "away", "late"]


class Process:
    def __init__(self, base: str) -> None:
        #: Its URL without a slash at the end.
        self.base = base
        self.seed = _fnv1a(FNV_OFFSET, f"{base} ")
        #: Since the last answer.
        self.failures = 0
        self.late = 0
        self.failed_at = -math.inf
        self.avoided_until = -math.inf

    def avoid(self, now: float) -> None:
        seconds = min(MAX_AVOIDED, FIRST_AVOIDED * 2 ** min(self.failures - 1, 10))
        self.avoided_until = now + seconds * random.uniform(0.5, 1)

    def forgive(self) -> None:
        self.failures = 0
        self.avoided_until = -math.inf


class Processes:
    """
    Threads may share it. Raises ValueError if a URL is none, or named twice.

    :param clock: a function that returns seconds and never steps back
    """

    def __init__(self, url: str | Sequence[str], clock: Callable[[], float]) -> None:
        self._known = [Process(base) for base in _bases_of(url)]
        self._clock = clock
        self._lock = threading.Lock()

    def take(self, user: UserKey | None, failed: Process | None = None) -> Process:
        """
        The one for a call that goes out now: the user's own, or the first one if the call names none, unless that is avoided.

        :param failed: the one that has failed this call
        """
        if len(self._known) == 1:
            return self._known[0]
        with self._lock:
            now = self._clock()
            order = self._known
            if user is not None:
                order = sorted(order, key=lambda process: (-_weight(process.seed, user), process.base))
            allowed = [process for process in order if process.avoided_until <= now]
            others = [process for process in allowed if process is not failed]
            chosen = (others or allowed or [min(order, key=lambda process: process.avoided_until)])[0]
            if chosen.failures > 0:
                chosen.avoid(now)
            return chosen

    def has_other(self, process: Process) -> bool:
        """Whether another one is not avoided."""
        now = self._clock()
        return any(other is not process and other.avoided_until <= now for other in self._known)

    def note(self, process: Process, outcome: Outcome, started: float) -> None:
        if len(self._known) == 1:
            return
        with self._lock:
            if outcome == "answered":
                process.late = 0
                # An older attempt says nothing of now.
                if process.failures == 0 or started < process.failed_at:
                    return
                were_all_away = all(known.failures > 0 for known in self._known)
                for back in self._known if were_all_away else [process]:
                    back.forgive()
                return
            process.late += 1
            if outcome == "late" and process.late < LATE_TO_AVOID and process.failures == 0:
                return
            # What fails together is one failure.
            if started >= process.failed_at:
                process.failures += 1
                process.failed_at = self._clock()
            process.avoid(self._clock())


def header_of(user: UserKey) -> str:
    """The user in a header, by which proxies may hash: the id, or 16 bits of a reference, which may be personal."""
    return str(user) if isinstance(user, int) else f"ref-{_weight(FNV_OFFSET, user) >> 16:x}"


def _weight(seed: int, user: UserKey) -> int:
    value = _fnv1a(seed, str(user))
    value = ((value ^ (value >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ (value >> 16)


def _fnv1a(value: int, text: str) -> int:
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _bases_of(url: str | Sequence[str]) -> list[str]:
    """The URLs in one spelling, in which they are hashed."""
    bases: list[str] = []
    for text in [url] if isinstance(url, str) else url:
        # The port that a scheme has by default leaves only if the scheme is in lower case.
        parsed = httpx.URL(str(httpx.URL(text)))
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError("`url` is no address such as https://quota.example")
        base = str(parsed).rstrip("/")
        if base in bases:
            raise ValueError(f"`url` names {parsed.scheme}://{parsed.netloc.decode()} twice")
        bases.append(base)
    if not bases:
        raise ValueError("`url` is an empty list: it needs an address of the service")
    return bases
