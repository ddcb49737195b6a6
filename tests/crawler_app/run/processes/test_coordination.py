"""Limits, levels and the end, decided from statuses alone."""

import random

import pytest

from crawler_app.base.models import State
from crawler_app.run.processes.coordination import Coordinator
from crawler_app.run.processes.process_messages import Order, Status
from crawler_app.run.processes.sharding import part_function


class Part:
    """A model of a process: what is queued, and the quota that it keeps to.

    Each page may need images, which have no quota.
    """

    def __init__(self, queued):
        self.queued = queued
        self.done = 0
        self.images = self.done_images = 0
        self.quota = 0
        self.obeyed = 0

    def work(self, images):
        if self.images:
            self.images -= 1
            self.done_images += 1
        elif self.queued and self.done < self.quota:
            self.queued -= 1
            self.done += 1
            self.images = images

    def obey(self, order):
        self.obeyed = order.number
        if order.quota is not None:
            self.quota = order.quota
        if order.recalls_quota:
            self.quota = min(self.quota, self.done)

    def status(self):
        return Status(
            obeyed=self.obeyed,
            has_work=self.queued + self.images > 0,
            quota=self.quota,
            is_starved=self.queued > 0 == self.images and self.done >= self.quota,
            count_by_state={
                State.DONE: self.done + self.done_images,
                State.QUEUED: self.queued + self.images,
            },
            non_pages_by_state={
                State.DONE: self.done_images,
                State.QUEUED: self.images,
            },
        )


@pytest.mark.parametrize("seed", range(50))
def test_quotas_are_used_up_and_never_exceeded(seed):
    dice = random.Random(seed)
    parts = [Part(dice.choice((0, 1, 5, 200))) for _ in range(dice.randrange(1, 6))]
    max_pages = dice.randrange(300)
    wanted = min(max_pages, sum(part.queued for part in parts))
    coordinator = Coordinator(len(parts), max_pages, has_levels=False)
    on_their_way = []

    for _ in range(20_000):
        number = dice.randrange(len(parts))
        parts[number].work(dice.randrange(3))
        orders = coordinator.note_status(number, parts[number].status())
        # An order may take a while, but those for one process stay in order.
        on_their_way += orders
        for each in [each for each in on_their_way if dice.random() < 0.5]:
            first = next(one for one in on_their_way if one[0] == each[0])
            on_their_way.remove(first)
            parts[first[0]].obey(first[1])
        assert sum(part.done for part in parts) <= max_pages
        if coordinator.has_reached_max_pages() or coordinator.is_drained():
            break

    assert sum(part.done for part in parts) == wanted
    assert not any(part.images for part in parts)
    is_whole = not any(part.queued for part in parts)
    assert coordinator.is_drained() is is_whole
    assert coordinator.has_reached_max_pages() is not is_whole


def status(coordinator, part, **values):
    known = coordinator.parts[part]
    values = {"received": known.forwarded, "obeyed": known.ordered} | values
    return coordinator.note_status(part, Status(**values))


def test_crawl_is_drained_only_when_no_link_is_on_its_way():
    coordinator = Coordinator(2, None, has_levels=False)
    status(coordinator, 0, has_work=False)
    assert not coordinator.is_drained()
    status(coordinator, 1, has_work=False)
    assert coordinator.is_drained()

    coordinator.note_forwarded(1)
    assert not coordinator.is_drained()
    status(coordinator, 1, has_work=False)  # received, and known already
    assert not coordinator.is_drained()
    coordinator.note_taken(1)
    assert coordinator.is_drained()

    coordinator.note_start(0)  # it has died
    assert not coordinator.is_drained()


def test_limit_of_pages_is_reached_when_no_image_is_on_its_way():
    coordinator = Coordinator(2, 1, has_levels=False)
    fetched = {State.DONE: 1, State.QUEUED: 1}
    status(coordinator, 0, count_by_state=fetched, has_outgoing=True)
    status(coordinator, 1)
    assert not coordinator.has_reached_max_pages()

    coordinator.note_forwarded(1)
    status(coordinator, 0, count_by_state=fetched)
    assert not coordinator.has_reached_max_pages()
    queued = {State.QUEUED: 1}
    status(coordinator, 1, count_by_state=queued, non_pages_by_state=queued)
    assert not coordinator.has_reached_max_pages()
    done = {State.DONE: 1}
    status(coordinator, 1, count_by_state=done, non_pages_by_state=done)
    assert coordinator.has_reached_max_pages()


def test_next_level_begins_when_all_parts_have_finished_this_one():
    coordinator = Coordinator(2, None, has_levels=True)
    assert status(coordinator, 0, depth=1) == []
    assert status(coordinator, 1, depth=0) == []
    coordinator.note_forwarded(0)
    assert status(coordinator, 1, depth=None) == []
    orders = status(coordinator, 0, depth=1)

    assert orders == [(0, Order(number=1, level=1)), (1, Order(number=1, level=1))]
    # Until they have obeyed, their statuses are of the level before.
    assert status(coordinator, 0, depth=2, obeyed=0) == []


def test_hosts_of_start_urls_take_parts_in_turn():
    seeds = [f"http://{name}.test/{name}" for name in "dacb"]
    part_of = part_function(seeds, 2)

    assert [part_of(f"{name}.test") for name in "abcd"] == [0, 1, 0, 1]
    assert part_function(reversed(seeds), 2)("x.test") == part_of("x.test")
    others = [part_of(f"{number}.example") for number in range(1000)]
    assert 400 < sum(others) < 600
