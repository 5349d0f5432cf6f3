"""
A sender that reads on its input what to send, and writes what its client answered. Run by the test of lost answers
(test/process/lost-answers.long.test.ts), which kills it.
"""

import asyncio
import json
import os
import sys
import threading
from typing import Any

import httpx

from sms_quota import AsyncQuotaClient, QuotaClient, QuotaError, Sent, UnavailableError, UnknownIfSent

RUN = json.loads(sys.argv[1])
#: Of each call before the send, in seconds.
TIMEOUT = RUN["timeoutMs"] / 1_000


class NotTaken(Exception):
    """The provider did not take the message."""


def sent_or_raise(outcome: str) -> str:
    if outcome == "unknown":
        raise UnknownIfSent
    if outcome != "sent":
        raise NotTaken
    return outcome


def asked(order: dict[str, Any]) -> dict[str, Any]:
    return {
        "user_id": order["userId"],
        "id": order["id"],
        "units": order["units"],
        "message_type": order["type"],
        "ttl_seconds": RUN["ttlSeconds"],
        "on_expiry": order["onExpiry"],
        "timeout": TIMEOUT,
    }


def message(order: dict[str, Any]) -> dict[str, Any]:
    return {"userId": order["userId"], "id": order["id"], "units": order["units"], "by": order["type"]}


def outcome_of(sent: Sent[str]) -> dict[str, Any]:
    kinds = {True: "sent", False: "denied", None: "unknown", "before": "before"}
    return {"kind": kinds[sent.sent], "isReserved": sent.reservation is not None}


def outcome_by(error: Exception) -> dict[str, Any]:
    if isinstance(error, NotTaken):
        return {"kind": "failed"}
    if isinstance(error, UnavailableError):
        return {"kind": "unavailable", "isOutage": error.is_outage}
    if isinstance(error, QuotaError):
        return {"kind": "refused", "detail": error.code}
    raise error


def answer(order: dict[str, Any], outcome: dict[str, Any] | None, sends: int, client: Any) -> None:
    whole = {"detail": "", "isOutage": False, "isReserved": False, "sends": sends, **outcome} if outcome else None
    unsettled = [f"{one.user_id} {one.id}" for one in client.unsettled()]
    # One write for each line, so that lines of several threads do not mix.
    sys.stdout.write(json.dumps({"call": order["call"], "outcome": whole, "unsettled": unsettled, "debts": 0}) + "\n")
    sys.stdout.flush()


def work() -> None:
    quota = QuotaClient(RUN["url"], RUN["token"])
    provider = httpx.Client(trust_env=False)
    writing = threading.Lock()

    def carry_out(order: dict[str, Any]) -> None:
        sends = 0

        def send(_: object) -> str:
            nonlocal sends
            sends += 1
            return sent_or_raise(provider.post(RUN["provider"], json=message(order)).json())

        outcome: dict[str, Any] | None = None
        try:
            outcome = outcome_of(quota.with_reservation(send, **asked(order)))
        except Exception as error:
            outcome = outcome_by(error)
        with writing:
            answer(order, outcome, sends, quota)

    def close(order: dict[str, Any]) -> None:
        try:
            quota.close()
        except UnavailableError:
            pass
        with writing:
            answer(order, None, 0, quota)

    for line in sys.stdin:
        order = json.loads(line)
        threading.Thread(target=close if order["op"] == "close" else carry_out, args=[order]).start()


async def work_async() -> None:
    quota = AsyncQuotaClient(RUN["url"], RUN["token"])
    provider = httpx.AsyncClient(trust_env=False)
    tasks: set[asyncio.Task[None]] = set()

    async def carry_out(order: dict[str, Any]) -> None:
        sends = 0

        async def send(_: object) -> str:
            nonlocal sends
            sends += 1
            return sent_or_raise((await provider.post(RUN["provider"], json=message(order))).json())

        outcome: dict[str, Any] | None = None
        try:
            outcome = outcome_of(await quota.with_reservation(send, **asked(order)))
        except Exception as error:
            outcome = outcome_by(error)
        answer(order, outcome, sends, quota)

    async def close(order: dict[str, Any]) -> None:
        try:
            await quota.close()
        except UnavailableError:
            pass
        answer(order, None, 0, quota)

    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        task = asyncio.create_task(close(order) if order["op"] == "close" else carry_out(order))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    if RUN["isAsync"]:
        asyncio.run(work_async())
    else:
        work()
    # The process that started it has gone, or wants nothing more.
    os._exit(0)
