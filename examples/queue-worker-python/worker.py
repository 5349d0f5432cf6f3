"""
A worker that takes messages from a queue in PostgreSQL and sends each with a reservation. A job may be taken again after a
worker has died; its message is not sent or charged again. README.md says how to run it.
"""

import os
import signal
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import httpx
import psycopg
from psycopg.rows import class_row

from sms_quota import Denied, Granted, QuotaClient, UnavailableError, UnknownIfSent

#: Longer than a job can take: two calls of sms-quota and one of the provider. Then the job is taken again.
LEASE_SECONDS = 60
PROVIDER_TIMEOUT_SECONDS = 10
POLL_SECONDS = 0.2
#: How soon a job is tried again while sms-quota is away.
RETRY = timedelta(seconds=30)
#: A denied message that may be sent within this time waits for it. Later, it would be of no use.
MAX_DELAY = timedelta(days=1)
#: How long a person has to settle a message of which it is not known whether it was sent. Then it is free.
TTL_SECONDS = 7 * 86_400


@dataclass
class Job:
    id: int
    user_id: int
    recipient: str
    body: str
    attempt: int
    #: An attempt before has no outcome: its worker has died, or is slower than its lease.
    is_repeated: bool


@dataclass
class Outcome:
    #: waiting, sent, denied, failed or unknown.
    state: str
    note: str | None = None
    run_at: datetime | None = None


class Worker:
    def __init__(self, database: psycopg.Connection, quota: QuotaClient, provider: httpx.Client) -> None:
        self._database = database
        self._quota = quota
        self._provider = provider
        self.is_stopping = False

    def run(self) -> None:
        while not self.is_stopping:
            job = self._take_job()
            if job is None:
                time.sleep(POLL_SECONDS)
            else:
                self._finish_job(job, self._send_job(job))

    def _take_job(self) -> Job | None:
        with self._database.cursor(row_factory=class_row(Job)) as cursor:
            return cursor.execute(
                """with due as (
                     select id, state from sms_job where state in ('waiting', 'sending') and run_at <= now()
                     order by run_at limit 1 for update skip locked
                   )
                   update sms_job
                   set state = 'sending', attempt = attempt + 1, run_at = now() + make_interval(secs => %s)
                   from due where sms_job.id = due.id
                   returning sms_job.id, user_id, recipient, body, attempt, due.state = 'sending' as is_repeated""",
                [LEASE_SECONDS],
            ).fetchone()

    def _is_ours(self, job: Job) -> bool:
        """Whether no other worker has taken the job meanwhile; False also if that cannot be known."""
        statement = "select from sms_job where id = %s and attempt = %s"
        try:
            return self._database.execute(statement, [job.id, job.attempt]).rowcount == 1
        except psycopg.Error:
            return False

    def _finish_job(self, job: Job, outcome: Outcome) -> None:
        """Has no effect if another worker has taken the job meanwhile."""
        self._database.execute(
            "update sms_job set state = %s, note = %s, run_at = coalesce(%s, run_at) where id = %s and attempt = %s",
            [outcome.state, outcome.note, outcome.run_at, job.id, job.attempt],
        )

    def _send_job(self, job: Job) -> Outcome:
        def send(reservation: Granted) -> None:
            if reservation["replayed"] and not self._is_ours(job):
                raise UnknownIfSent("another worker has the job")
            self._send(job)

        try:
            sent = self._quota.with_reservation(
                send,
                user_id=job.user_id,
                id=f"job-{job.id}",
                message={"to": job.recipient, "text": job.body},
                ttl_seconds=TTL_SECONDS,
                # Committed after the send, so that it is known of a worker that has died whether it had sent.
                on_expiry="release",
                # Each attempt before has said that it sent nothing, unless its worker has died.
                on_repeated="unknown" if job.is_repeated else "send",
            )
        except UnavailableError as error:
            # Nothing was sent.
            return Outcome("waiting", str(error), now() + RETRY)
        except Exception as error:
            return Outcome("failed", f"{type(error).__name__}: {error}")
        if sent.denied is not None:
            return denied(sent.denied)
        return Outcome("sent") if sent.sent else Outcome("unknown", str(sent.error))

    def _send(self, job: Job) -> None:
        """Any provider that takes `{ to, text }` as JSON. Change this for yours."""
        try:
            answer = self._provider.post(
                "", json={"to": job.recipient, "text": job.body}, headers={"idempotency-key": f"job-{job.id}"}
            )
        except httpx.TransportError as error:
            raise UnknownIfSent("the provider did not answer") from error
        # With a 5xx, the provider may have taken the message all the same.
        if answer.status_code >= 500:
            raise UnknownIfSent(f"the provider answered {answer.status_code}")
        if not answer.is_success:
            raise RuntimeError(f"the provider refused the message: {answer.status_code}")


def denied(denial: Denied) -> Outcome:
    reason, retry_at = denial["reason"], denial["retry_at"]
    run_at = None if retry_at is None else datetime.fromisoformat(retry_at)
    if run_at is None or run_at > now() + MAX_DELAY:
        return Outcome("denied", reason)
    return Outcome("waiting", reason, max(run_at, now() + RETRY))


def now() -> datetime:
    return datetime.now(timezone.utc)


def main() -> None:
    env = os.environ
    with (
        psycopg.connect(env["DATABASE_URL"], autocommit=True) as database,
        QuotaClient(env.get("SMS_QUOTA_URL", "http://127.0.0.1:8080"), env["SMS_QUOTA_TOKEN"]) as quota,
        httpx.Client(base_url=env["PROVIDER_URL"], timeout=PROVIDER_TIMEOUT_SECONDS) as provider,
    ):
        worker = Worker(database, quota, provider)

        def stop(*_: object) -> None:
            worker.is_stopping = True

        signal.signal(signal.SIGTERM, stop)
        print("the worker waits for jobs", flush=True)
        worker.run()


if __name__ == "__main__":
    main()
