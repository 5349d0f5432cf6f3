"""The client for asyncio. It has the methods of QuotaClient, to be awaited. Made by scripts/make_async.py."""

import asyncio
import time
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Self, Sequence, Unpack, cast

import httpx

from ._calls import Answer, Attempt, Call, Steps, admin_call, sender_call, steps_of, token_of
from ._errors import UnknownIfSent
from ._repetitions import Memory, sender_steps
from ._types import Asked, Check, Consumed, Denied, Granted, Json, Reserved, Result, Sent, Settled, T

QUOTA = "/api/sms/admin/quota"


class AsyncQuotaClient:
    """
    A client of the service. It belongs to one event loop.

    All calls have a deadline, two seconds for senders and ten for others, with retries of what is safe to repeat.

    Fields and answers have the names of the API. All calls raise QuotaError if the service refuses them, and
    UnavailableError if there is no final answer in time. An empty token is a ValueError.

    :param url: of the service, for example "https://quota.example"
    :param token: a bearer token, or a function that returns one; it is asked before each attempt, so it can renew it
    :param transport: in place of HTTPX's own
    """

    def __init__(
        self, url: str, token: str | Callable[[], str], *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        if isinstance(token, str):
            token_of(token)
        self._http = httpx.AsyncClient(base_url=url, transport=transport)
        self._token = token
        #: The calls of senders, for `replayed`.
        self._called = Memory()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    # Senders

    async def check(
        self, *, user_id: int, timeout: float | None = None, **asked: Unpack[Asked]
    ) -> Check | Denied:
        answer = await self._ask("check", {"user_id": user_id, **asked}, timeout)
        return cast(Check | Denied, answer.value)

    async def reserve(
        self, *, user_id: int, id: str, timeout: float | None = None, **asked: Unpack[Reserved]
    ) -> Granted | Denied:
        answer = await self._ask("reserve", {"user_id": user_id, "id": id, **asked}, timeout)
        return cast(Granted | Denied, answer.value)

    async def consume(
        self, *, user_id: int, id: str, timeout: float | None = None, **asked: Unpack[Consumed]
    ) -> Granted | Denied:
        answer = await self._ask("consume", {"user_id": user_id, "id": id, **asked}, timeout)
        return cast(Granted | Denied, answer.value)

    async def commit(
        self,
        *,
        user_id: int,
        id: str,
        total_units: int | None = None,
        force: bool = False,
        messages: int | None = None,
        timeout: float | None = None,
    ) -> Settled:
        """:param messages: how many messages the units pay, for usage; one by default"""
        more: dict[str, Any] = {"force": True} if force else {}
        if messages is not None:
            more["messages"] = messages
        return await self._settle("commit", user_id, id, total_units, timeout, **more)

    async def release(
        self, *, user_id: int, id: str, total_units: int | None = None, timeout: float | None = None
    ) -> Settled:
        return await self._settle("release", user_id, id, total_units, timeout)

    async def refund(
        self, *, user_id: int, id: str, total_units: int | None = None, timeout: float | None = None
    ) -> Settled:
        return await self._settle("refund", user_id, id, total_units, timeout)

    async def batch(self, operations: Sequence[Json], *, timeout: float | None = None) -> list[Result]:
        """Up to 1,000 operations in one call; those of a user take effect in their order. Each fails by itself."""
        answer = await self._ask("batch", {"operations": list(operations)}, timeout)
        return cast(list[Result], answer.value["results"])

    async def with_reservation(
        self,
        send: Callable[[Granted], Awaitable[T]],
        *,
        user_id: int,
        id: str,
        timeout: float | None = None,
        **asked: Unpack[Reserved],
    ) -> Sent[T]:
        """
        Reserves, sends, and commits. If `send` raises, the units are released and its error is raised; if it raises
        UnknownIfSent, or if the program is interrupted, they stay reserved. What stays reserved is committed when it
        expires, because the message may have left; `on_expiry="release"` says otherwise.
        """
        asked.setdefault("on_expiry", "commit")
        reservation = await self.reserve(user_id=user_id, id=id, timeout=timeout, **asked)
        if not reservation["granted"]:
            return Sent(sent=False, denied=reservation)
        try:
            value = await send(reservation)
        except UnknownIfSent as error:
            return Sent(sent=None, error=error, reservation=reservation)
        except Exception:
            await self.release(user_id=user_id, id=id)
            raise
        try:
            settled = await self.commit(user_id=user_id, id=id)
        except Exception as error:
            return Sent(sent=True, value=value, error=error, reservation=reservation)
        return Sent(sent=True, value=value, settled=settled, reservation=reservation)

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

    async def list_quotas(self, **filters: Any) -> AsyncIterator[Json]:
        """The quotas of all pages, read as they are needed."""
        cursor: dict[str, str] = {}
        while True:
            page = await self.request("GET", f"{QUOTA}/list", params={**filters, **cursor})
            for item in page["items"]:
                yield item
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

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

    async def _settle(
        self, operation: str, user_id: int, id: str, total_units: int | None, timeout: float | None, **more: Any
    ) -> Settled:
        body: dict[str, Any] = {"user_id": user_id, "id": id, **more}
        if total_units is not None:
            body["total_units"] = total_units
        answer = await self._ask(operation, body, timeout)
        return cast(Settled, answer.value)

    async def _ask(self, operation: str, body: Json, timeout: float | None) -> Answer:
        """An operation that the caller asks for."""
        call = sender_call(operation, body, timeout)
        return await self._drive(call, sender_steps(operation, call, self._called, time.monotonic))

    async def _run(self, call: Call) -> Any:
        answer = await self._drive(call, steps_of(call, time.monotonic(), time.monotonic))
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
                call.method, call.path, json=call.body, params=call.params, headers=headers, timeout=attempt.timeout
            )
        except httpx.TransportError as error:
            return error
