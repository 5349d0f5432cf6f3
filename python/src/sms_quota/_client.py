"""The client for programs without asyncio."""

import time
from types import TracebackType
from typing import Any, Callable, Iterator, Self, Sequence, Unpack, cast

import httpx

from ._calls import Answer, Attempt, Call, Steps, admin_call, sender_call, steps_of, token_of
from ._errors import UnknownIfSent
from ._repetitions import Memory, sender_steps
from ._types import Asked, Check, Consumed, Denied, Granted, Json, Reserved, Result, Sent, Settled, T

QUOTA = "/api/sms/admin/quota"


class QuotaClient:
    """
    A client of the service. Threads may share it.

    All calls have a deadline, two seconds for senders and ten for others, with retries of what is safe to repeat.

    Fields and answers have the names of the API. All calls raise QuotaError if the service refuses them, and
    UnavailableError if there is no final answer in time. An empty token is a ValueError.

    :param url: of the service, for example "https://quota.example"
    :param token: a bearer token, or a function that returns one; it is asked before each attempt, so it can renew it
    :param transport: in place of HTTPX's own
    """

    def __init__(
        self, url: str, token: str | Callable[[], str], *, transport: httpx.BaseTransport | None = None
    ) -> None:
        if isinstance(token, str):
            token_of(token)
        self._http = httpx.Client(base_url=url, transport=transport)
        self._token = token
        #: The calls of senders, for `replayed`.
        self._called = Memory()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # Senders

    def check(
        self, *, user_id: int, timeout: float | None = None, **asked: Unpack[Asked]
    ) -> Check | Denied:
        answer = self._ask("check", {"user_id": user_id, **asked}, timeout)
        return cast(Check | Denied, answer.value)

    def reserve(
        self, *, user_id: int, id: str, timeout: float | None = None, **asked: Unpack[Reserved]
    ) -> Granted | Denied:
        answer = self._ask("reserve", {"user_id": user_id, "id": id, **asked}, timeout)
        return cast(Granted | Denied, answer.value)

    def consume(
        self, *, user_id: int, id: str, timeout: float | None = None, **asked: Unpack[Consumed]
    ) -> Granted | Denied:
        answer = self._ask("consume", {"user_id": user_id, "id": id, **asked}, timeout)
        return cast(Granted | Denied, answer.value)

    def commit(
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
        return self._settle("commit", user_id, id, total_units, timeout, **more)

    def release(
        self, *, user_id: int, id: str, total_units: int | None = None, timeout: float | None = None
    ) -> Settled:
        return self._settle("release", user_id, id, total_units, timeout)

    def refund(
        self, *, user_id: int, id: str, total_units: int | None = None, timeout: float | None = None
    ) -> Settled:
        return self._settle("refund", user_id, id, total_units, timeout)

    def batch(self, operations: Sequence[Json], *, timeout: float | None = None) -> list[Result]:
        """Up to 1,000 operations in one call; those of a user take effect in their order. Each fails by itself."""
        answer = self._ask("batch", {"operations": list(operations)}, timeout)
        return cast(list[Result], answer.value["results"])

    def with_reservation(
        self,
        send: Callable[[Granted], T],
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
        reservation = self.reserve(user_id=user_id, id=id, timeout=timeout, **asked)
        if not reservation["granted"]:
            return Sent(sent=False, denied=reservation)
        try:
            value = send(reservation)
        except UnknownIfSent as error:
            return Sent(sent=None, error=error, reservation=reservation)
        except Exception:
            self.release(user_id=user_id, id=id)
            raise
        try:
            settled = self.commit(user_id=user_id, id=id)
        except Exception as error:
            return Sent(sent=True, value=value, error=error, reservation=reservation)
        return Sent(sent=True, value=value, settled=settled, reservation=reservation)

    # Administrators

    def create_quota(self, *, idempotency_key: str | None = None, **quota: Any) -> Json:
        """A repeated call with the same key creates nothing twice; by default each call has a new one."""
        return cast(Json, self.request("POST", QUOTA, body=quota, idempotency_key=idempotency_key))

    def get_quota(self, id: int) -> Json:
        return cast(Json, self.request("GET", f"{QUOTA}/{id}"))

    def update_quota(self, id: int, *, if_match: int | None = None, **fields: Any) -> Json:
        """:param if_match: the version that the change shall meet; otherwise it is refused with "version_mismatch" """
        return cast(Json, self.request("PUT", f"{QUOTA}/{id}", body=fields, if_match=if_match))

    def delete_quota(self, id: int, *, if_match: int | None = None) -> None:
        self.request("DELETE", f"{QUOTA}/{id}", if_match=if_match)

    def summary(self, user_id: int) -> Json:
        return cast(Json, self.request("GET", f"{QUOTA}/summary", params={"user_id": user_id}))

    def list_quotas(self, **filters: Any) -> Iterator[Json]:
        """The quotas of all pages, read as they are needed."""
        cursor: dict[str, str] = {}
        while True:
            page = self.request("GET", f"{QUOTA}/list", params={**filters, **cursor})
            yield from page["items"]
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

    def request(
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
        return self._run(
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

    def _settle(
        self, operation: str, user_id: int, id: str, total_units: int | None, timeout: float | None, **more: Any
    ) -> Settled:
        body: dict[str, Any] = {"user_id": user_id, "id": id, **more}
        if total_units is not None:
            body["total_units"] = total_units
        answer = self._ask(operation, body, timeout)
        return cast(Settled, answer.value)

    def _ask(self, operation: str, body: Json, timeout: float | None) -> Answer:
        """An operation that the caller asks for."""
        call = sender_call(operation, body, timeout)
        return self._drive(call, sender_steps(operation, call, self._called, time.monotonic))

    def _run(self, call: Call) -> Any:
        answer = self._drive(call, steps_of(call, time.monotonic(), time.monotonic))
        return answer.value

    def _drive(self, call: Call, steps: Steps) -> Answer:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Attempt):
                    step = steps.send(self._attempt(call, step))
                else:
                    time.sleep(step.seconds)
                    step = steps.send(None)
            except StopIteration as done:
                return cast(Answer, done.value)

    def _attempt(self, call: Call, attempt: Attempt) -> httpx.Response | httpx.TransportError:
        headers = {"authorization": f"Bearer {token_of(self._token)}", **(call.headers or {})}
        try:
            return self._http.request(
                call.method, call.path, json=call.body, params=call.params, headers=headers, timeout=attempt.timeout
            )
        except httpx.TransportError as error:
            return error
