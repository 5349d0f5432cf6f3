"""The calls that the tests of the client for JavaScript make to the service and to the fake server, by this client's methods."""

import json
import re
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Self

import pytest

from sms_quota import QuotaError

ROOT = Path(__file__).parents[2]
STEPS: list[dict[str, Any]] = json.loads((ROOT / "test" / "client" / "conformance.json").read_text())
#: The time at which the table begins.
START = "2026-03-15T12:00:00.000Z"
ADMIN = "/api/sms/admin/quota"
SENDER = "/api/sms/sender/quota"


class FakeServer:
    """The fake server of sms-quota-client/testing as a process."""

    def __enter__(self) -> Self:
        command = [str(ROOT / "bin" / "node"), "test/client/fake-process.ts", START]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        where = self._read()
        self.url, self.token = where["url"], where["token"]
        return self

    def advance(self, ms: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{ms}\n")
        self._read()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the fake server has ended"
        return json.loads(line)


def test_the_client_answers_what_the_service_does(connect: Callable[..., Any]) -> None:
    with FakeServer() as fake:
        client = connect(fake.url, fake.token)
        quotas: list[int] = []
        for number, step in enumerate(STEPS, 1):
            fake.advance(step.get("after", 0))
            status, answer = made(client, step, quotas)
            assert (number, step["call"], status) == (number, step["call"], step["status"])
            assert contains(answer, step.get("answer", {})), f"{number}: {step['call']}: {answer}"
        assert len(STEPS) == 72


def made(client: Any, step: dict[str, Any], quotas: list[int]) -> tuple[int, Any]:
    """Makes a call. Answers the status that stands for its outcome, and its answer or its problem."""
    try:
        answer = called(client, step, quotas)
    except QuotaError as error:
        return error.status, error.problem
    if step["call"] == f"POST {ADMIN}":
        quotas.append(answer["id"])
        return 201, answer
    return (204, {}) if answer is None else (200, answer)


def called(client: Any, step: dict[str, Any], quotas: list[int]) -> Any:
    method, path = step["call"].split(" ")
    path = re.sub(r"QUOTA_(\d)", lambda found: str(quotas[int(found[1]) - 1]), path)
    body = step.get("body", {})
    last = path.rsplit("/", 1)[-1]
    version = step.get("headers", {}).get("if-match")
    if_match = None if version is None else int(version.strip('"'))
    if path.startswith(SENDER) and isinstance(body, str):
        # Broken JSON, which no method of the client sends, but a text is as little a request.
        return client.request(method, path, body=body)
    if path == f"{SENDER}/batch":
        return {"results": client.batch(body.get("operations", []))}
    if path == f"{SENDER}/feedback":
        named = {name: value for name, value in body.items() if name != "verified"}
        # The method says nothing but that the code was entered.
        return client.feedback(**named) if body.get("verified") is True else client.request(method, path, body=body)
    if method == "POST" and path.startswith(SENDER):
        return getattr(client, last)(**body)
    if path.startswith(f"{SENDER}/reservations/"):
        return client.request(method, path)
    if path.startswith(f"{ADMIN}/summary"):
        return client.summary(int(last.split("=")[1]))
    if method == "POST":
        return client.create_quota(**body)
    if method == "PUT":
        return client.update_quota(last, if_match=if_match, **body)
    return client.delete_quota(last) if method == "DELETE" else client.get_quota(last)


def contains(answer: Any, expected: Any) -> bool:
    """Whether an answer has all that is expected, and may have more fields."""
    if isinstance(expected, dict):
        return isinstance(answer, dict) and all(
            name in answer and contains(answer[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(answer, list)
            and len(answer) == len(expected)
            and all(contains(one, other) for one, other in zip(answer, expected))
        )
    return bool(answer == expected)
