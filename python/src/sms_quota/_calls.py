"""What both clients share: how a call is made, repeated and judged. It does no input and output of its own."""

import random
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Generator, Mapping, Sequence

import httpx

from ._api import ANSWERS, Code, OperationId
from ._errors import QuotaError, UnavailableError
from ._processes import Outcome, Process, Processes, header_of
from ._users import UserKey, key_of

SENDER = "/api/sms/sender/quota/"
SENDER_TIMEOUT = 2.0
TIMEOUT = 10.0
FIRST_PAUSE = 0.05
MAX_PAUSE = 2.0

#: Answers that ask to try again, or come from a proxy whose service does not answer.
TRY_AGAIN = frozenset({429, 502, 503, 504})
#: Of these, the ones of a service that is there, and say for certain that nothing was done.
NOTHING_DONE: frozenset[Code] = frozenset({"rate_limited", "overloaded"})

#: A member of an answer by which it is known.
Member = tuple[str, type]
PAGE: Member = ("items", list)
RESERVATION = ANSWERS["commit"]


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    body: Any = None
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    #: In seconds, for all attempts together.
    timeout: float = TIMEOUT
    #: Whether it may be made twice though the first attempt took effect.
    is_repeatable: bool = True
    #: The users it is about, as far as that is known; the first one says where it goes.
    users: Sequence[UserKey] = ()
    #: None: any object, or no content.
    answers: Member | None = None


@dataclass(frozen=True)
class Attempt:
    """To be made now."""

    timeout: float
    #: The address of the process, without a slash at the end.
    base: str


@dataclass(frozen=True)
class Pause:
    """To be waited for."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    value: Any
    #: Whether an earlier attempt of the call, whose answer was lost, may have taken effect.
    is_uncertain: bool


Steps = Generator[Attempt | Pause, httpx.Response | httpx.TransportError | None, Answer]

#: Errors of requests that have not left.
NOT_ASKED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def sender_call(operation: OperationId, body: Mapping[str, Any], timeout: float | None) -> Call:
    users = _users_of(*body["operations"]) if operation == "batch" else _users_of(body)
    return Call(
        "POST",
        SENDER + operation,
        body=body,
        headers=_header_of(users),
        timeout=SENDER_TIMEOUT if timeout is None else timeout,
        users=users,
        answers=ANSWERS[operation],
    )


def admin_call(
    method: str,
    path: str,
    *,
    body: Any = None,
    params: Mapping[str, Any] | None = None,
    if_match: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
    user: Mapping[str, Any] | None = None,
    answers: Member | None = None,
) -> Call:
    """:param user: what names the user it is about, if body and parameters do not say it"""
    users = _users_of(user, body, params)
    headers = _header_of(users)
    if if_match is not None:
        headers["if-match"] = f'"{if_match}"'
    if method in ("POST", "PUT"):
        headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
    return Call(
        method,
        path,
        body=body,
        params=params,
        headers=headers,
        timeout=TIMEOUT if timeout is None else timeout,
        is_repeatable=method != "DELETE",
        users=users,
        answers=answers,
    )


def _users_of(*named: Any) -> list[UserKey]:
    keys = [key_of(one) for one in named if isinstance(one, Mapping)]
    return [key for key in keys if key is not None]


def _header_of(users: Sequence[UserKey]) -> dict[str, str]:
    """What names the user of a call, for proxies that hash by it. A batch about several has none."""
    return {"sms-quota-user": header_of(users[0])} if len(set(users)) == 1 else {}


def steps_of(call: Call, started: float, clock: Any, processes: Processes) -> Steps:
    """
    The attempts of a call and the pauses between them. It is sent the response to each attempt, or its error, and
    returns the answer of the service. Raises QuotaError and UnavailableError, which tell about the call, not about the
    last attempt: it may have taken effect if any attempt may have.

    :param clock: a function that returns seconds and never steps back
    :param processes: where it can go
    """
    failed: Process | None = None
    deadline = started + call.timeout
    may_have_taken_effect = False
    is_outage = True
    failure = "the service did not answer in time"
    for retries in range(1_000):
        left = deadline - clock()
        if left <= 0:
            break
        process = processes.take(call.users[0] if call.users else None, failed)
        # So that there is time for another process.
        is_part = failed is None and call.path.startswith(SENDER) and processes.has_other(process)
        began = clock()
        response = yield Attempt(left / 2 if is_part else left, process.base)
        assert response is not None
        content = _json_of(response) if isinstance(response, httpx.Response) else None
        problem = content if _is_problem(response, content) else None
        if problem is None and isinstance(response, httpx.Response) and not _is_answer(call, response, content):
            # A page of a proxy, for example: nothing is known, as if the answer were lost.
            response = httpx.TransportError(f"{response.status_code} is not an answer of sms-quota: {response.text[:200]}")
        outcome = _outcome_of(response, problem)
        processes.note(process, outcome, began)
        after = 0.0
        if isinstance(response, httpx.Response):
            status = response.status_code
            if status not in TRY_AGAIN:
                if problem is None:
                    return Answer(content, may_have_taken_effect)
                # Of what a service did that failed, nothing is known.
                is_uncertain = may_have_taken_effect or status >= 500
                raise QuotaError({"status": status, **problem}, may_have_taken_effect=is_uncertain)
            code = "" if problem is None else problem["code"]
            failure = f"{code or status}: {'' if problem is None else problem['detail']}"
            did_nothing = code in NOTHING_DONE
            is_outage = status != 429 and not did_nothing
            after = _seconds(response.headers.get("retry-after"))
        else:
            failure = f"no answer: {response}"
            did_nothing = isinstance(response, NOT_ASKED)
            # Of what the deadline has ended nothing is known: what was there before may still be.
            is_outage = is_outage or not isinstance(response, httpx.TimeoutException)
        may_have_taken_effect = may_have_taken_effect or not did_nothing
        if may_have_taken_effect and not call.is_repeatable:
            break
        if outcome != "answered":
            failed = process
            if processes.has_other(process):
                if outcome == "away":
                    continue
                after = 0.0
        pause = max(min(MAX_PAUSE, FIRST_PAUSE * 2**min(retries, 10)) * random.uniform(0.5, 1), after)
        if clock() + pause >= deadline:
            break
        yield Pause(pause)
    raise UnavailableError(failure, may_have_taken_effect=may_have_taken_effect, is_outage=is_outage)


def _outcome_of(response: httpx.Response | httpx.TransportError, problem: Mapping[str, Any] | None) -> Outcome:
    """What an attempt says of its process."""
    if not isinstance(response, httpx.Response):
        return "late" if isinstance(response, httpx.TimeoutException) else "away"
    if response.status_code not in TRY_AGAIN or response.status_code == 429:
        return "answered"
    return "answered" if problem is not None and problem["code"] in NOTHING_DONE else "away"


def _json_of(response: httpx.Response) -> Any:
    """None for what is no JSON."""
    if "json" not in response.headers.get("content-type", ""):
        return None
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _is_problem(response: Any, content: Any) -> bool:
    """Other services that answer problems have no codes."""
    if not (_has(content, "code", str) and _has(content, "detail", str)):
        return False
    return response.status_code >= 300 and "problem+json" in response.headers["content-type"]


def _is_answer(call: Call, response: httpx.Response, content: Any) -> bool:
    """Whether the service, or a proxy whose service does not answer, can have answered so. Newer services may add members."""
    status = response.status_code
    if status in TRY_AGAIN:
        return True
    if status == 204:
        return call.answers is None and call.method != "GET"
    if status >= 300 or not (isinstance(content, dict) if call.answers is None else _has(content, *call.answers)):
        return False
    return call.answers != ANSWERS["batch"] or _are_results(call.body["operations"], content["results"])


def _are_results(operations: Sequence[Any], results: Sequence[Any]) -> bool:
    return len(results) == len(operations) and all(map(_is_result, operations, results))


def _is_result(operation: Any, result: Any) -> bool:
    if not _has(result, "status", int):
        return False
    body = result.get("body")
    return _has(body, *ANSWERS[operation["op"]]) if result["status"] < 300 else _has(body, "code", str)


def _has(content: Any, name: str, kind: type) -> bool:
    return isinstance(content, dict) and isinstance(content.get(name), kind)


def token_of(token: str | Callable[[], str]) -> str:
    """Without one every call would be refused, as if a token had ended. Raises ValueError."""
    current = token if isinstance(token, str) else token()
    if current == "":
        raise ValueError("the token is empty: `token` needs a bearer token, or a function that returns one")
    return current


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdigit() else 0.0
