"""A month in virtual time, against a web whose deaths and flaps are known, with crashes."""

import asyncio
import random
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from crawler_app.base import safe_files
from crawler_app.show.watch import watching
from crawler_app.show.watch.deciding import DAY_S
from crawler_app.show.watch.delivering import Delivery
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.channel import NoticeChannel, NoticeError
from crawler_app.show.watch.watch_config import Watch, WatchConfig
from crawler_app.show.watch.watching import Watcher
from gencoro import gen
from tests.crawler_app.show.watch.conftest import look_of, sighting

START = 1_790_000_000.0
DAYS = 30
EXTERNAL, OWN = 60, 20


class Killed(BaseException):
    """The process was killed."""


class Web:
    """Targets by their names, each with its days: ``x`` broken, ``.`` works, ``?`` a wall."""

    def __init__(self, chance):
        self.chance = chance
        self.days_by_target = {}
        self.offline = set(chance.sample(range(3, DAYS - 6, 2), 3))
        for n in range(EXTERNAL):
            self.days_by_target[f"external/{n}"] = self.life()
        for n in range(OWN):
            self.days_by_target[f"broken/{n}"] = self.life(flaps=False)

    def life(self, flaps=True):
        days = ["."] * DAYS
        kind = self.chance.choice(
            ["fine", "dies", "dies and is mended", "flaps", "wall"]
        )
        begin = self.chance.randrange(2, 12)
        if kind == "dies":
            days[begin:] = "x" * (DAYS - begin)
        elif kind == "dies and is mended":
            end = begin + self.chance.randrange(8, 12)
            days[begin:end] = "x" * (end - begin)
        elif kind == "flaps" and flaps:
            days[begin::5] = "x" * len(days[begin::5])
        elif kind == "wall":
            days[begin : begin + 4] = "????"
        return "".join(days)

    def look(self, day):
        if day in self.offline:
            return look_of(has_answer=False)
        broken = [t for t, days in self.days_by_target.items() if days[day] == "x"]
        unknown = {t for t, days in self.days_by_target.items() if days[day] == "?"}
        seen = [sighting(target, target.split("/")[0]) for target in broken]
        return look_of(*seen, unknown=unknown, urls=len(self.days_by_target))

    def to_tell(self):
        """Return the targets that die and those that are mended, with their days."""
        died, mended = {}, {}
        for target, days in self.days_by_target.items():
            if "xx" in days:
                died[target] = days.index("xx")
                if "x." in days:
                    mended[target] = days.index("x.") + 1
        return died, mended


@dataclass(frozen=True, kw_only=True)
class Receiving(NoticeChannel):
    """A receiver that drops what it has, and may fail, or outlive the one who tells it."""

    chance: random.Random
    events: list = field(default_factory=list)
    ids: set = field(default_factory=set)
    refused: list = field(default_factory=list)
    killed: list = field(default_factory=list)
    unforeseen: list = field(default_factory=list)

    @gen.coroutine
    def send(self, notice, out):
        yield gen.sleep(1.0)
        if self.chance.random() < 0.2:
            self.refused.append(notice.id)
            raise NoticeError("not now")
        if notice.id not in self.ids:
            self.ids.add(notice.id)
            self.events.extend(notice.events)
        elif not notice.is_repeated:
            self.unforeseen.append(notice.id)
        if self.chance.random() < 0.2:
            self.killed.append(notice.id)
            raise Killed


@pytest.mark.parametrize("seed", range(4))
def test_each_death_is_told_once_within_two_checks_and_no_flap(
    tmp_path, virtual_clock, monkeypatch, seed
):
    chance = random.Random(seed)
    web, receiving = Web(chance), Receiving(chance=chance)
    config = WatchConfig(state=str(tmp_path), at="03:00")
    watch = Watch(config, {"docs": {}}, {})

    def now():
        return START + virtual_clock.time()

    @gen.coroutine
    def look(site):
        yield gen.sleep(60.0)
        if chance.random() < 0.1:
            raise Killed
        return web.look(int(virtual_clock.time() / DAY_S))

    def replace_text(path, text):
        safe_files.replace_text(path, text)
        if chance.random() < 0.1:
            raise Killed

    monkeypatch.setattr(watching, "TICK_S", 900.0)
    monkeypatch.setattr("crawler_app.show.watch.memory.replace_text", replace_text)

    async def live():
        delivery = Delivery(memory, {"hook": receiving}, ["docs"], now)
        watcher = Watcher(watch, memory, delivery, now, look=look)
        left_s = DAYS * DAY_S - 2 * 3600 - virtual_clock.time()
        await asyncio.wait_for(watcher.run_forever(), left_s)

    has_ended = False
    while not has_ended:
        memory = Memory.open(tmp_path / "memory")
        try:
            with asyncio.Runner(loop_factory=virtual_clock.new_event_loop) as runner:
                runner.run(live())
        except TimeoutError:
            has_ended = True
        except Killed:
            pass

    assert receiving.refused
    assert receiving.killed
    assert receiving.unforeseen == []
    died, mended = web.to_tell()
    for kind, wanted in (("broken", died), ("mended", mended)):
        told = {
            e.target: (e.at - START) / DAY_S for e in receiving.events if e.kind == kind
        }
        assert sorted(told) == sorted(wanted)
        for target, day in wanted.items():
            checks = [n for n in range(day, DAYS) if n not in web.offline]
            assert told[target] < checks[1] + 1
    assert len(receiving.events) == len(died) + len(mended)


def test_what_is_found_in_the_quiet_hours_is_told_at_their_end(memory, run_sync):
    config = WatchConfig(state="x", at="03:00", quiet="00:00-07:00")
    receiving = Receiving(chance=random.Random(0))
    receiving.chance.random = lambda: 1.0
    night = datetime(2026, 11, 28, 3).timestamp()
    now = night

    @gen.coroutine
    def look(site):
        yield gen.moment
        return look_of(sighting("a"))

    delivery = Delivery(memory, {"hook": receiving}, ["docs"], lambda: now)
    watch = Watch(config, {"docs": {}}, {})
    watcher = Watcher(watch, memory, delivery, lambda: now, look=look)

    run_sync(watcher.run_round)
    assert receiving.events == []
    now = night + 4 * 3600 - 1
    run_sync(watcher.run_round)
    assert receiving.events == []
    now = night + 4 * 3600
    run_sync(watcher.run_round)
    assert [event.at for event in receiving.events] == [night]
    assert [run.at for run in memory.site("docs").runs] == [night]
