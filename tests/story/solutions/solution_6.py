"""Exercise 6: a cancel goes to what the coroutine waits for, and comes back as an error."""

import asyncio

import task


class Task(task.Task):
    _waits_for = None
    _is_to_cancel = False

    def _wait_for(self, yielded):
        self._waits_for = yielded
        super()._wait_for(yielded)

    def _step(self, error=None):
        self._waits_for = None
        if self._is_to_cancel and error is None:
            self._is_to_cancel, error = False, asyncio.CancelledError()
        super()._step(error)

    def cancel(self):
        if self._waits_for is None or not self._waits_for.cancel():
            self._is_to_cancel = True
