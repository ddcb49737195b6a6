"""asyncio's Task in its essence: it drives an ``async def`` by ``send(None)``.

`asyncio.Task` is written in C, and as ``Task`` in Python in ``asyncio/tasks.py``, where the
two methods are called ``__step`` and ``__wakeup``.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

__all__ = ["Task"]


class Task:
    """Runs a native coroutine on the running loop.

    Attributes:
        future: Gets the outcome.
    """

    def __init__(self, coroutine: Coroutine[Any, None, Any]) -> None:
        self._coroutine = coroutine
        self._loop = asyncio.get_running_loop()
        self.future = self._loop.create_future()
        # Not at once: the first step too is a turn of the loop later.
        self._loop.call_soon(self._step)

    def _step(self, error: BaseException | None = None) -> None:
        """Resume the coroutine until it waits for the next Future, or has ended."""
        try:
            if error is None:
                yielded = self._coroutine.send(None)
            else:
                yielded = self._coroutine.throw(error)
        except StopIteration as stop:
            self.future.set_result(stop.value)
        except asyncio.CancelledError:
            self.future.cancel()
        except Exception as failure:
            self.future.set_exception(failure)
        else:
            self._wait_for(yielded)

    def _wait_for(self, yielded: Any) -> None:
        if yielded is None:  # `await asyncio.sleep(0)`: only a turn of the loop
            self._loop.call_soon(self._step)
        elif getattr(yielded, "_asyncio_future_blocking", None):
            # Set by `await`, so that a Future which was yielded without it is noticed.
            yielded._asyncio_future_blocking = False
            yielded.add_done_callback(self._wakeup)
        else:
            error = RuntimeError(f"Task got bad yield: {yielded!r}")
            self._loop.call_soon(self._step, error)

    def _wakeup(self, future: "asyncio.Future[Any]") -> None:
        """Continue: the `await` takes the result from the Future by itself."""
        try:
            future.result()
        except BaseException as error:
            self._step(error)
        else:
            self._step()
