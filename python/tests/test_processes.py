"""A client with the URLs of several processes: where calls go, and when they move on and back."""

import json
from pathlib import Path
from typing import Any, Callable

import httpx
import pytest

from sms_quota import UnavailableError
from sms_quota._processes import Processes
from sms_quota._users import UserKey, key_of

Connect = Callable[..., Any]

VECTORS = json.loads((Path(__file__).parents[2] / "test" / "client" / "rendezvous.json").read_text())
A, B = "http://quota-a", "http://quota-b"


def home(user: UserKey) -> str:
    return Processes([A, B], lambda: 0.0).take(user).base


OF_A = next(user for user in range(100) if home(user) == A)
OF_B = next(user for user in range(100) if home(user) == B)


def name_of(vector: Any) -> str:
    return f"{vector.get('userId', vector.get('userRef'))} of {len(vector['urls'])}"


@pytest.mark.parametrize("vector", VECTORS, ids=name_of)
def test_a_user_has_the_processes_that_every_client_finds(vector: Any) -> None:
    for urls in (vector["urls"], vector["urls"][::-1]):
        processes = Processes(urls, lambda: 0.0)
        order = []
        for _ in urls:
            process = processes.take(key_of({"user_id": vector.get("userId"), "user_ref": vector.get("userRef")}))
            processes.note(process, "away", 0.0)
            order.append(process.base)
        assert order == vector["order"]


@pytest.mark.parametrize(
    ("urls", "message"),
    [([], "empty list"), ([A, "quota-b"], "no address"), ([A, "HTTP://Quota-A:80/"], "names http://quota-a twice")],
)
def test_urls_that_are_none_are_refused(connect: Connect, urls: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        connect(urls, "t")


class Calls:
    """A network, by host, and what was sent through it."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []
        self.answers: dict[str, Callable[[], httpx.Response]] = {}
        self.transport = httpx.MockTransport(self._answer)

    def to(self) -> list[str]:
        hosts = [f"http://{request.url.host}" for request in self.sent]
        self.sent.clear()
        return hosts

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        answer = self.answers.get(f"http://{request.url.host}")
        body = {"granted": True, "state": "committed", "items": [], "next_cursor": None}
        return httpx.Response(200, json=body) if answer is None else answer()


def refused() -> httpx.Response:
    raise httpx.ConnectError("connection refused")


def late() -> httpx.Response:
    raise httpx.ReadTimeout("no answer")


def problem(status: int, code: str) -> Callable[[], httpx.Response]:
    body = {"code": code, "detail": "not now", "status": status}
    return lambda: httpx.Response(status, json=body, headers={"content-type": "application/problem+json"})


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def quota(connect: Connect, calls: Calls) -> Any:
    return connect([A, B], "t", transport=calls.transport)


def test_a_call_goes_to_the_process_of_its_user_which_a_header_names(quota: Any, calls: Calls) -> None:
    quota.reserve(user_id=OF_A, id="a", units=1)
    quota.commit(user_id=OF_B, id="b")
    quota.summary(OF_B)
    quota.create_quota(user_id=OF_A, limit=1)
    quota.consume(user_ref="Kunde/7ä", id="c", units=1)
    list(quota.list_reservations(user_ref="Kunde/7ä"))
    users = [request.headers.get("sms-quota-user") for request in calls.sent]
    key, header = "ref:Kunde%2F7%C3%A4", "ref-2c06"
    assert users == [str(OF_A), str(OF_B), str(OF_B), str(OF_A), header, header]
    assert calls.to() == [A, B, B, A, home(key), home(key)]


def test_a_batch_goes_to_the_process_of_its_first_user(quota: Any, calls: Calls) -> None:
    result = {"status": 200, "body": {"granted": True}}
    calls.answers[B] = lambda: httpx.Response(200, json={"results": [result, result]})
    quota.batch([{"op": "check", "user_id": OF_B, "units": 1}, {"op": "check", "user_id": OF_A, "units": 1}])
    quota.batch([{"op": "check", "user_id": OF_B, "units": 1}, {"op": "check", "user_id": OF_B, "units": 1}])
    assert [request.headers.get("sms-quota-user") for request in calls.sent] == [None, str(OF_B)]
    assert calls.to() == [B, B]


@pytest.mark.parametrize(
    "answer", [refused, problem(502, "unavailable"), problem(503, "unavailable"), problem(504, "unavailable")]
)
def test_what_fails_goes_on_to_the_next_process_and_the_first_is_avoided(quota: Any, calls: Calls, answer: Any) -> None:
    calls.answers[A] = answer
    quota.create_quota(user_id=OF_A, limit=1)
    first, second = calls.sent
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.content == second.content
    quota.get_quota(1)
    assert calls.to() == [A, B, B]


def test_an_answer_that_asks_to_wait_does_not(quota: Any, calls: Calls) -> None:
    calls.answers[A] = problem(503, "overloaded")
    with pytest.raises(UnavailableError):
        quota.reserve(user_id=OF_A, id="a", units=1, timeout=0.2)
    assert set(calls.to()) == {A}


def test_a_call_of_a_sender_leaves_half_of_its_time_to_the_next_process(quota: Any, calls: Calls) -> None:
    calls.answers[A] = late
    for number in range(4):
        quota.reserve(user_id=OF_A, id=f"{number}", units=1, timeout=10)
    times = [request.extensions["timeout"]["read"] for request in calls.sent[:2]]
    assert times[0] <= 5 < times[1]
    # After three, it is avoided.
    assert calls.to() == [A, B, A, B, A, B, B]


def test_if_all_are_away_it_is_an_outage(quota: Any, calls: Calls) -> None:
    calls.answers = {A: refused, B: refused}
    with pytest.raises(UnavailableError) as caught:
        quota.reserve(user_id=OF_A, id="a", units=1, timeout=0.3)
    assert caught.value.is_outage
    assert set(calls.to()) == {A, B}


def test_a_process_is_avoided_for_longer_each_time_and_an_answer_brings_it_back() -> None:
    now = 0.0
    processes = Processes([A, B], lambda: now)
    for seconds in (1, 2, 4, 8, 10, 10):
        process = processes.take(OF_A)
        assert process.base == A
        assert processes.take(OF_A).base == (B if now > 0 else A)
        processes.note(process, "away", now)
        # The jitter is up to a half.
        now += seconds / 2 - 0.001
        assert processes.take(OF_A).base == B
        now += seconds / 2 + 0.002
    process = processes.take(OF_A)
    processes.note(process, "answered", now)
    assert [processes.take(OF_A).base, processes.take(OF_A).base] == [A, A]


def test_the_first_answer_brings_all_back_if_all_were_away() -> None:
    processes = Processes([A, B], lambda: 0.0)
    a, b = processes.take(OF_A), processes.take(OF_B)
    for process in (a, b):
        processes.note(process, "away", 0.0)
    processes.note(b, "answered", 0.0)
    assert [processes.take(OF_A), processes.take(OF_B)] == [a, b]
