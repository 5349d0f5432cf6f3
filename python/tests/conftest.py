"""A real service on its own database, started for the tests. Without Node.js and npm packages they fail."""

import asyncio
import inspect
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Iterator

import pytest

from sms_quota import AsyncQuotaClient, QuotaClient

PROGRAM = str(Path(__file__).parents[2] / "bin" / "sms-quota")


class Service:
    def __init__(self, url: str, data_dir: str, admin: str, sender: str) -> None:
        self.url = url
        self.data_dir = data_dir
        self.admin = admin
        self.sender = sender
        self._users = 100
        self._administrator = QuotaClient(url, admin)

    def user(self, limit: int | None) -> int:
        """A new user with a grant of this many units."""
        self._users += 1
        self._administrator.create_quota(user_id=self._users, limit=limit)
        return self._users

    def reference(self, user_id: int) -> str:
        """What another system calls the user."""
        ref = f"Kunde/{user_id}-ä"
        self._administrator.request("PUT", f"/api/sms/admin/users/{user_id}/profile", body={"ref": ref})
        return ref

    def counted(self, user_id: int) -> tuple[int, int]:
        """The units used and reserved."""
        summary = self._administrator.summary(user_id)
        return summary["used"], summary["reserved"]

    def verified(self, user_id: int) -> int:
        """The messages whose code was entered."""
        period = {"from": "2026-01-01T00:00:00Z", "to": "2090-01-01T00:00:00Z", "interval": "month"}
        usage = self._administrator.request("GET", "/api/sms/admin/quota/usage", params={"user_id": user_id, **period})
        return int(usage["total"]["verified_messages"])


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        env = {**os.environ, "DATA_DIR": f"{folder}/data", "PORT": "0"}
        running = subprocess.Popen([PROGRAM, "serve"], env=env, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        try:
            found = None
            while found is None:
                line = running.stdout.readline()
                assert line, "the service has ended"
                found = re.search(r"sms-quota is at (http://[\w.:]+)", line)

            def token(*options: str) -> str:
                return subprocess.run(
                    [PROGRAM, "token", *options], env=env, capture_output=True, text=True, check=True
                ).stdout.strip()

            admin = token("--user", "1", "--role", "admin")
            sender = token("--subject", "gateway", "--role", "sender", "--role", "force")
            yield Service(found[1], env["DATA_DIR"], admin, sender)
        finally:
            running.terminate()
            running.communicate()


class Awaited:
    """An asynchronous client whose methods wait for their results, so that both clients pass the same tests."""

    def __init__(self, client: AsyncQuotaClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            result = method(*[_asynchronous(arg) for arg in args], **options)
            if inspect.isasyncgen(result):
                return self._loop.run_until_complete(_all(result))
            return self._loop.run_until_complete(result) if inspect.isawaitable(result) else result

        return call


def _asynchronous(arg: Any) -> Any:
    if not callable(arg):
        return arg

    async def call(*args: Any) -> Any:
        return arg(*args)

    return call


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A function that makes a client, as QuotaClient does."""
    loop = asyncio.new_event_loop()
    clients: list[Any] = []

    def make(url: str, token: Any, transport: Any = None) -> Any:
        if request.param == "sync":
            client: Any = QuotaClient(url, token, transport=transport)
        else:
            client = Awaited(AsyncQuotaClient(url, token, transport=transport), loop)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()
    loop.close()
