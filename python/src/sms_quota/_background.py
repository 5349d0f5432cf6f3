"""Work that is done again each second until nothing is left."""

import asyncio
import threading
from typing import Awaitable, Callable

from ._settler import AGAIN_SECONDS


class Background:
    """
    In a thread. The program does not end before.

    :param work: raises nothing
    """

    def __init__(self, work: Callable[[], object], is_any_left: Callable[[], bool]) -> None:
        self._work = work
        self._is_any_left = is_any_left
        self._is_running = False
        self._lock = threading.Lock()
        self._hurry = threading.Event()

    def wake(self) -> None:
        with self._lock:
            if self._is_running or not self._is_any_left():
                return
            threading.Thread(target=self._run, name="sms-quota", daemon=False).start()
            self._is_running = True

    def end(self) -> None:
        """Ends at once if nothing is left."""
        self._hurry.set()

    def _run(self) -> None:
        while True:
            self._hurry.wait(AGAIN_SECONDS)
            self._hurry.clear()
            self._work()
            with self._lock:
                if not self._is_any_left():
                    self._is_running = False
                    return


class AsyncBackground:
    """In a task. It ends with its loop."""

    def __init__(self, work: Callable[[], Awaitable[object]], is_any_left: Callable[[], bool]) -> None:
        self._work = work
        self._is_any_left = is_any_left
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        if (self._task is None or self._task.done()) and self._is_any_left():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while self._is_any_left():
            await asyncio.sleep(AGAIN_SECONDS)
            await self._work()
