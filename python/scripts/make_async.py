"""Makes _async_client.py of _client.py, so that each method is written once. With --check it only says whether it is current."""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sms_quota" / "_client.py"
TARGET = SOURCE.with_name("_async_client.py")

#: What is awaited.
CALLS = (
    "_run",
    "_drive",
    "_ask",
    "_settle_due",
    "_settle_due_of",
    "_find",
    "_send",
    "_send_committed",
    "_send_and_commit",
    "_give_back",
    "commit",
    "feedback",
    "request",
    "_attempt",
    "_http.request",
)

#: What does nothing that takes time.
AT_ONCE = ("__init__", "unsettled", "_leave_open", "_is_any_left", "list_quotas", "list_reservations")

REPLACEMENTS = [
    (
        '"""The client for programs without asyncio."""\n\nimport time\n',
        '"""The client for asyncio. It has the methods of QuotaClient, to be awaited. Made by scripts/make_async.py."""\n\n'
        "import asyncio\nimport time\n",
    ),
    ("class QuotaClient(SenderMethods):", "class AsyncQuotaClient(AsyncSenderMethods):"),
    ("Result, SenderMethods,", "Result, AsyncSenderMethods,"),
    ("Threads may share it.", "It belongs to one event loop."),
    ("httpx.BaseTransport", "httpx.AsyncBaseTransport"),
    ("httpx.Client(", "httpx.AsyncClient("),
    ("import Background\n", "import AsyncBackground\n"),
    ("= Background(", "= AsyncBackground("),
    ("def __enter__", "def __aenter__"),
    ("def __exit__", "def __aexit__"),
    ("        self.close()", "        await self.close()"),
    ("self._http.close()", "await self._http.aclose()"),
    ("time.sleep(", "await asyncio.sleep("),
    ("value = send(", "value = await send("),
    ("Callable[[Granted], T]", "Callable[[Granted], Awaitable[T]]"),
    ("import Any, Callable, Iterator, Self", "import Any, AsyncIterator, Awaitable, Callable, Self"),
    ("-> Iterator[", "-> AsyncIterator["),
    ('yield from page["items"]', 'for item in page["items"]:\n                yield item'),
]


def asynchronous(text: str) -> str:
    text = re.sub(rf"\n    def (?!(?:{'|'.join(AT_ONCE)})\()", "\n    async def ", text)
    for before, after in REPLACEMENTS:
        text = text.replace(before, after)
    for call in CALLS:
        text = text.replace(f"self.{call}(", f"await self.{call}(")
    return text


if __name__ == "__main__":
    made = asynchronous(SOURCE.read_text())
    if "--check" not in sys.argv:
        TARGET.write_text(made)
    elif TARGET.read_text() != made:
        sys.exit("src/sms_quota/_async_client.py is not current: run python scripts/make_async.py")
