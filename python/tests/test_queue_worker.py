"""examples/queue-worker-python, on a queue in the service's own PostgreSQL. What a dead worker leaves behind is written here."""

import os
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator

import psycopg
import pytest

from sms_quota import QuotaClient

from .conftest import Service

EXAMPLE = Path(__file__).parents[2] / "examples" / "queue-worker-python"
#: What the provider answers to messages for these numbers.
ANSWERS = {"+4915100000400": 400, "+4915100000500": 500}
NUMBER = "+4915112345678"


class Queue:
    def __init__(
        self, database: psycopg.Connection, sent: list[str], at_send: dict[str, Callable[[], object]]
    ) -> None:
        self._database = database
        #: The jobs for which the provider was asked to send.
        self.sent = sent
        #: What is done when the provider is asked to send for a job, before it answers.
        self.at_send = at_send

    def insert(self, id: int, user_id: int, to: str = NUMBER, *, was_taken: bool = False) -> None:
        """With `was_taken`, the worker that took the job has died, and its lease is over."""
        self._database.execute(
            """insert into sms_job (id, user_id, recipient, body, state, attempt) overriding system value
               values (%s, %s, %s, 'Hello', %s, %s)""",
            [id, user_id, to, "sending" if was_taken else "waiting", int(was_taken)],
        )

    def outcome_of(self, id: int) -> tuple[Any, ...]:
        """State, note and attempt of a job, once the worker is done with it."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            job = self._database.execute("select state, note, attempt from sms_job where id = %s", [id]).fetchone()
            assert job is not None
            if job[0] not in ("waiting", "sending") or job[1] is not None:
                return job
            time.sleep(0.02)
        raise TimeoutError(f"the worker has not finished job {id}")

    def run_at(self, id: int) -> datetime:
        found = self._database.execute("select run_at from sms_job where id = %s", [id]).fetchone()
        assert found is not None
        at: datetime = found[0]
        return at


@pytest.fixture(scope="module")
def queue(service: Service) -> Iterator[Queue]:
    sent: list[str] = []
    at_send: dict[str, Callable[[], object]] = {}

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            job = self.headers["idempotency-key"]
            sent.append(job)
            at_send.get(job, lambda: None)()
            self.send_response(next((status for number, status in ANSWERS.items() if number in body), 200))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    password = Path(service.data_dir, "postgres-password").read_text().strip()
    server = f"host={service.data_dir}/socket user=sms_quota password={password}"
    with psycopg.connect(f"{server} dbname=postgres", autocommit=True) as administrator:
        administrator.execute("create database queue")
    url = f"{server} dbname=queue"
    with psycopg.connect(url, autocommit=True) as database:
        database.execute((EXAMPLE / "schema.sql").read_bytes())
        env = {
            **os.environ,
            "DATABASE_URL": url,
            "PROVIDER_URL": f"http://127.0.0.1:{provider.server_port}/",
            "SMS_QUOTA_URL": service.url,
            "SMS_QUOTA_TOKEN": service.sender,
        }
        worker = subprocess.Popen([sys.executable, str(EXAMPLE / "worker.py")], env=env)
        try:
            yield Queue(database, sent, at_send)
        finally:
            worker.terminate()
            assert worker.wait(timeout=30) == 0
            provider.shutdown()


def reserve(service: Service, user_id: int, id: int, *, commit: bool = False) -> None:
    """Reserves for a job as a worker does."""
    with QuotaClient(service.url, service.sender) as quota:
        message = {"to": NUMBER, "text": "Hello"}
        quota.batch([{"op": "reserve", "user_id": user_id, "id": f"job-{id}", "message": message, "on_expiry": "commit"}])
        if commit:
            quota.commit(user_id=user_id, id=f"job-{id}")


def test_a_message_is_sent_and_charged(service: Service, queue: Queue) -> None:
    user = service.user(2)
    queue.insert(1, user)
    assert queue.outcome_of(1) == ("sent", None, 1)
    assert queue.sent.count("job-1") == 1
    assert service.counted(user) == (1, 0)


def test_units_are_committed_after_the_send(service: Service, queue: Queue) -> None:
    user = service.user(2)
    counted: list[tuple[int, int]] = []
    queue.at_send["job-2"] = lambda: counted.append(service.counted(user))
    queue.insert(2, user)
    assert queue.outcome_of(2) == ("sent", None, 1)
    assert counted == [(0, 1)]
    assert service.counted(user) == (1, 0)


def test_a_denied_message_waits_until_it_may_be_sent_or_is_set_aside(service: Service, queue: Queue) -> None:
    start = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=2)
    with QuotaClient(service.url, service.admin) as admin:
        admin.create_quota(user_id=90, limit=5, starts_at=start.isoformat().replace("+00:00", "Z"))
    queue.insert(10, 90)
    queue.insert(11, 91)
    assert queue.outcome_of(10) == ("waiting", "no_quota", 1)
    assert queue.run_at(10) == start
    assert queue.outcome_of(11) == ("denied", "no_quota", 1)
    assert not {"job-10", "job-11"} & set(queue.sent)


def test_a_refused_message_is_free_and_an_unknown_one_is_kept(service: Service, queue: Queue) -> None:
    user = service.user(5)
    queue.insert(20, user, "+4915100000400")
    queue.insert(21, user, "+4915100000500")
    queue.insert(22, user, "nobody")
    assert queue.outcome_of(20) == ("failed", "RuntimeError: the provider refused the message: 400", 1)
    assert queue.outcome_of(21) == ("unknown", "the provider answered 500", 1)
    state, note, _ = queue.outcome_of(22)
    assert state == "failed" and "/message/to" in note
    assert service.counted(user) == (0, 1)


def test_a_job_of_a_dead_worker_is_not_sent_or_charged_again(service: Service, queue: Queue) -> None:
    user = service.user(5)
    reserve(service, user, 31)
    reserve(service, user, 32, commit=True)
    for id in (30, 31, 32):
        queue.insert(id, user, was_taken=True)
    assert queue.outcome_of(30) == ("sent", None, 2)
    assert queue.outcome_of(31) == ("unknown", "an earlier call with this id has not said whether it sent the message", 2)
    assert queue.outcome_of(32) == ("sent", None, 2)
    assert [queue.sent.count(f"job-{id}") for id in (30, 31, 32)] == [1, 0, 0]
    assert service.counted(user) == (2, 1)
