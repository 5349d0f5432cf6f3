"""The client for asyncio. It has the methods of QuotaClient, to be awaited. Made by scripts/make_async.py."""

import asyncio
import time
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Self, Sequence, Unpack, cast

import httpx

from ._api import Denied, Granted, Operation, OperationId, Reserved, Result, AsyncSenderMethods, Settled
from ._background import AsyncBackground
from ._calls import PAGE, RESERVATION, SENDER, Answer, Attempt, Call, Steps, admin_call, sender_call, steps_of, token_of
from ._errors import QuotaError, UnavailableError, UnknownIfSent, is_uncertain
from ._processes import Processes
from ._repetitions import Memory, Sends, sender_steps
from ._settler import Settler, committed_as, committed_before, sent_before, sent_in_outage, unknown_before
from ._types import OnRepeated, Outcome, Sent, T, Unsettled
from ._users import Json, key_of, message_key, one_user, user_of

QUOTA = "/api/sms/admin/quota"


class AsyncQuotaClient(AsyncSenderMethods):
    """
    A client of the service. It belongs to one event loop.

    All calls have a deadline, two seconds for senders and ten for others, with retries of what is safe to repeat.

    Fields and answers have the names of the API. All calls raise QuotaError if the service refuses them, and
    UnavailableError if there is no final answer in time. An empty token is a ValueError.

    :param url: of the service, for example "https://quota.example"; of several processes on one database, the URLs of all: calls about
        a user go to the one that the user belongs to, and to the next one if that fails
    :param token: a bearer token, or a function that returns one; it is asked before each attempt, so it can renew it
    :param transport: in place of HTTPX's own
    """

    def __init__(
        self, url: str | Sequence[str], token: str | Callable[[], str], *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        if isinstance(token, str):
            token_of(token)
        self._processes = Processes(url, time.monotonic)
        self._http = httpx.AsyncClient(transport=transport)
        self._token = token
        #: The calls of senders, for `replayed`.
        self._called = Memory()
        #: The messages that this client has asked for in vain, so that nothing was sent.
        self._unsent = Memory()
        self._sends = Sends()
        self._settler = Settler()
        #: Feedback, which keeps no message from being sent.
        self._entered = Settler()
        self._background = AsyncBackground(self._settle_due, self._is_any_left)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except UnavailableError:
            # The error that is there already is the one to tell.
            if error is None:
                raise

    async def close(self) -> None:
        """
        Settles what `with_reservation` and `verified` have left open. Call it when no send is under way.

        Raises UnavailableError if the service does not confirm it; then it is tried further, and `close` may be called again.
        """
        for _ in range(max(self._settler.hurry(), self._entered.hurry())):
            await self._settle_due()
        self._settler.assert_none_left()
        self._entered.assert_none_left()
        self._background.end()
        await self._http.aclose()

    # Senders

    async def verified(
        self, *, user_id: int | None = None, user_ref: str | None = None, id: str, timeout: float | None = None
    ) -> None:
        """
        Says that the code of a message was entered, as `feedback` does. What the service does not confirm is repeated in the background, 10,000 messages at a time; beyond these, it raises
        UnavailableError.
        """
        try:
            await self.feedback(user_id=user_id, user_ref=user_ref, id=id, timeout=timeout)
        except UnavailableError:
            self._entered.assert_room()
            self._entered.add(user_id, id, "verified", user_ref=user_ref)
            self._background.wake()

    async def batch(self, operations: Sequence[Json], *, timeout: float | None = None) -> list[Result]:
        """Up to 1,000 operations in one call; those of a user take effect in their order. Each fails by itself."""
        answer = await self._ask("batch", {"operations": list(operations)}, timeout)
        return cast(list[Result], answer.value["results"])

    def list_reservations(self, **filters: Any) -> AsyncIterator[Json]:
        """
        The open reservations that this sender, the subject of the token, has made: of all pages, read as they are needed.

        :param filters: for example user_id=7 or user_ref="K-7", older_than=3600 (seconds), state="expired"
        """
        return self._pages("/api/sms/sender/quota/reservations", filters)

    async def with_reservation(
        self,
        send: Callable[[Granted], Awaitable[T]],
        *,
        user_id: int | None = None,
        user_ref: str | None = None,
        id: str,
        on_repeated: OnRepeated = "unknown",
        timeout: float | None = None,
        **asked: Unpack[Reserved],
    ) -> Sent[T]:
        """
        Reserves, commits, and sends. A reservation is released when it expires, so that one whose answer is lost costs
        nothing. Its units are committed before the send begins, so that a message that was sent is never free, and
        refunded if `send` raises, whose error is raised then. They stay committed if it raises UnknownIfSent, or if the
        program is interrupted.

        With `on_expiry="release"` the units are committed after the send: a message whose process ends during the send is
        free.

        What the service does not confirm is settled in the background.

        :param on_repeated: what it means that an earlier call with this id, perhaps of another process, has reserved units
            and not committed them: "unknown" sends nothing and says so, "send" sends
        :param timeout: of each call before the send
        """
        if on_repeated not in ("unknown", "send"):
            raise ValueError(f'on_repeated is {on_repeated!r}: it can be "unknown" or "send"')
        user = one_user(user_id, user_ref)
        message = message_key({**user, "id": id})
        unsettled = self._settler.find(message)
        if unsettled is not None:
            return sent_before(unsettled)
        self._settler.assert_room()
        commits_after_send = asked.get("on_expiry") == "release"
        asked["on_expiry"] = "release"
        try:
            reserved = await self._ask("reserve", {**user, "id": id, **asked}, timeout)
        except BaseException as error:
            if isinstance(error, UnavailableError) and error.is_outage:
                before = sent_in_outage(self._sends.get(message), commits_after_send, on_repeated)
                if before is not None:
                    return before
            if is_uncertain(error):
                self._unsent.add(message)
            raise
        reservation = cast(Granted | Denied, reserved.value)
        if not reservation["granted"]:
            # The request whose answer was lost may still arrive.
            if reserved.is_uncertain:
                self._unsent.add(message)
            return Sent(sent=False, denied=reservation)
        # A call in vain says nothing of an earlier one that has begun to send.
        was_unsent = self._unsent.take(message) and self._sends.get(message) is None
        if reservation["replayed"]:
            if reservation["state"] != "reserved":
                return Sent(sent="before", reservation=reservation)
            if on_repeated == "unknown" and not was_unsent:
                return unknown_before(reservation)
        if commits_after_send:
            return await self._send_and_commit(send, reservation)
        try:
            committed = await self._ask("commit", {**user, "id": id}, timeout)
        except BaseException as error:
            if is_uncertain(error):
                self._leave_open(reservation, "not-sent", is_maker=not reservation["replayed"])
            else:
                self._unsent.add(message)
            raise
        settled = cast(Settled, committed.value)
        if settled["replayed"]:
            return committed_before(reservation, settled)
        return await self._send_committed(send, reservation, settled)

    def unsettled(self) -> list[Unsettled]:
        """
        What `with_reservation` and `verified` have left open, because the service did not confirm it. It is settled in the background;
        10,000 messages at a time, and then no further one is sent.
        """
        return [*self._settler.list(), *self._entered.list()]

    async def _send_committed(self, send: Callable[[Granted], Awaitable[T]], reservation: Granted, settled: Settled) -> Sent[T]:
        committed = committed_as(reservation, settled)
        try:
            value = await self._send(send, committed)
        except UnknownIfSent as error:
            return Sent(sent=None, error=error, reservation=committed)
        except Exception:
            await self._give_back("refund", reservation)
            raise
        return Sent(sent=True, value=value, settled=settled, reservation=committed)

    async def _send_and_commit(self, send: Callable[[Granted], Awaitable[T]], reservation: Granted) -> Sent[T]:
        try:
            value = await self._send(send, reservation)
        except UnknownIfSent as error:
            return Sent(sent=None, error=error, reservation=reservation)
        except Exception:
            await self._give_back("release", reservation)
            raise
        try:
            settled = await self.commit(**user_of(reservation), id=reservation["id"])
        except BaseException as error:
            self._leave_open(reservation, "sent")
            if not isinstance(error, Exception):
                raise
            return Sent(sent=True, value=value, error=error, reservation=reservation)
        return Sent(sent=True, value=value, settled=settled, reservation=reservation)

    async def _send(self, send: Callable[[Granted], Awaitable[T]], reservation: Granted) -> T:
        """Notes what becomes of a send. One that is interrupted is unknown."""
        message = message_key(reservation)
        self._sends.note(message, "unknown")
        try:
            value = await send(reservation)
        except Exception as error:
            if not isinstance(error, UnknownIfSent):
                self._sends.note(message, "failed")
            raise
        self._sends.note(message, "sent")
        return value

    async def _give_back(self, operation: Operation, reservation: Granted) -> None:
        """Raises only an interruption."""
        try:
            await self._ask(operation, {**user_of(reservation), "id": reservation["id"]}, None)
        except BaseException as error:
            self._leave_open(reservation, "not-sent", may_be_committed=operation == "refund")
            if not isinstance(error, Exception):
                raise

    def _leave_open(self, reservation: Granted, outcome: Outcome, **known: bool) -> None:
        user_id, user_ref = reservation["user_id"], reservation.get("user_ref")
        self._settler.add(user_id, reservation["id"], outcome, user_ref=user_ref, **known)
        self._background.wake()

    def _is_any_left(self) -> bool:
        return self._settler.is_any_left() or self._entered.is_any_left()

    async def _settle_due(self) -> None:
        for settler in (self._settler, self._entered):
            await self._settle_due_of(settler)

    async def _settle_due_of(self, settler: Settler) -> None:
        steps = settler.due()
        while steps:
            try:
                finds = [step for step in steps if step.operation == "find"]
                of_batch = [step for step in steps if step.operation != "find"]
                results: list[Result] = []
                for step in finds:
                    results.append(await self._find(step.message))
                if of_batch:
                    body = {"operations": [step.request() for step in of_batch]}
                    answer = await self._run(sender_call("batch", body, None))
                    results.extend(answer["results"])
                steps = settler.note([*finds, *of_batch], results)
            except Exception as error:
                settler.postpone(steps, error)
                return

    async def _find(self, message: Unsettled) -> Result:
        """What became of a reservation, as a batch would answer it."""
        try:
            path = f"{SENDER}reservations/{key_of(vars(message))}/{message.id}"
            found = await self._run(admin_call("GET", path, user=vars(message), answers=RESERVATION))
        except QuotaError as error:
            return {"status": error.status, "body": {"code": error.code}}
        return {"status": 200, "body": found}

    # Administrators

    async def create_quota(self, *, idempotency_key: str | None = None, **quota: Any) -> Json:
        """A repeated call with the same key creates nothing twice; by default each call has a new one."""
        return cast(Json, await self.request("POST", QUOTA, body=quota, idempotency_key=idempotency_key))

    async def get_quota(self, id: int) -> Json:
        return cast(Json, await self.request("GET", f"{QUOTA}/{id}"))

    async def update_quota(self, id: int, *, if_match: int | None = None, **fields: Any) -> Json:
        """:param if_match: the version that the change shall meet; otherwise it is refused with "version_mismatch" """
        return cast(Json, await self.request("PUT", f"{QUOTA}/{id}", body=fields, if_match=if_match))

    async def delete_quota(self, id: int, *, if_match: int | None = None) -> None:
        await self.request("DELETE", f"{QUOTA}/{id}", if_match=if_match)

    async def summary(self, user_id: int) -> Json:
        return cast(Json, await self.request("GET", f"{QUOTA}/summary", params={"user_id": user_id}))

    def list_quotas(self, **filters: Any) -> AsyncIterator[Json]:
        """The quotas of all pages, read as they are needed."""
        return self._pages(f"{QUOTA}/list", filters)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        params: Json | None = None,
        if_match: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Any other call of the API, for example `request("GET", "/api/sms/admin/usage", params={"user_id": 7})`."""
        return await self._run(
            admin_call(
                method,
                path,
                body=body,
                params=params,
                if_match=if_match,
                idempotency_key=idempotency_key,
                timeout=timeout,
            )
        )

    async def _pages(self, path: str, filters: Json) -> AsyncIterator[Json]:
        cursor: dict[str, str] = {}
        while True:
            page = await self._run(admin_call("GET", path, params={**filters, **cursor}, answers=PAGE))
            for item in page["items"]:
                yield item
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

    async def _ask(self, operation: OperationId, body: Json, timeout: float | None) -> Answer:
        """An operation that the caller asks for."""
        call = sender_call(operation, body, timeout)
        return await self._drive(call, sender_steps(operation, call, self._called, time.monotonic, self._processes))

    async def _run(self, call: Call) -> Any:
        answer = await self._drive(call, steps_of(call, time.monotonic(), time.monotonic, self._processes))
        return answer.value

    async def _drive(self, call: Call, steps: Steps) -> Answer:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Attempt):
                    step = steps.send(await self._attempt(call, step))
                else:
                    await asyncio.sleep(step.seconds)
                    step = steps.send(None)
            except StopIteration as done:
                return cast(Answer, done.value)

    async def _attempt(self, call: Call, attempt: Attempt) -> httpx.Response | httpx.TransportError:
        headers = {"authorization": f"Bearer {token_of(self._token)}", **(call.headers or {})}
        try:
            return await self._http.request(
                call.method,
                attempt.base + call.path,
                json=call.body,
                params=call.params,
                headers=headers,
                timeout=attempt.timeout,
            )
        except httpx.TransportError as error:
            return error
