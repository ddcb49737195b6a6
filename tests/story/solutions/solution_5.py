"""Exercise 5: `put` is a generator too, and waits while the queue is full."""

from collections import deque

from check import fresh

stage = fresh("5_queue")
stage_4, Task = stage.stage_4, stage.Task


class Queue(stage.Queue):
    def __init__(self, loop, max_items):
        super().__init__(loop)
        self._max_items = max_items
        self._putters = deque()

    def put(self, item):
        while len(self._items) >= self._max_items:
            putter = stage.Future(self._loop)
            self._putters.append(putter)
            try:
                yield from putter
            except stage.Cancelled:
                if putter.done:
                    self._wake_putter()
                else:
                    self._putters.remove(putter)
                raise
        super().put(item)

    def get(self):
        item = yield from super().get()
        self._wake_putter()
        return item

    def _wake_putter(self):
        if self._putters and len(self._items) < self._max_items:
            self._putters.popleft().set()
