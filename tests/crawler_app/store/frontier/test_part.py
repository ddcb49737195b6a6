"""The frontiers of several parts hand links over without losing any."""

import random

import pytest

from crawler_app.base.errors import FrontierError
from crawler_app.base.models import Candidate, Outcome, Role, State
from crawler_app.base.reasons import Reason
from crawler_app.run.directory.union import UnionFrontier
from crawler_app.store.frontier import part as part_module
from crawler_app.store.frontier.part import PartFrontier

PARTS = 3


def found(path, part, depth=1, refusal=None, role=Role.LINK):
    host = f"{part}.test"
    return Candidate(f"http://{host}/{path}", host, depth, 10, refusal, role)


def part_of(host):
    return int(host.partition(".")[0])


class Parts:
    """The frontiers of all parts, each of which may be opened again at any time."""

    def __init__(self, directory):
        self._paths = [directory / str(number) for number in range(PARTS)]
        self.frontiers = [self.open(number) for number in range(PARTS)]

    def open(self, number):
        return PartFrontier(self._paths[number], part=number, part_of=part_of)

    def add(self, number, *candidates):
        self.frontiers[number].add(candidates)
        self.frontiers[number].flush()

    def die(self, number):
        """Lose what is not committed."""
        self.frontiers[number]._db.close()
        self.frontiers[number] = self.open(number)

    def finish(self, number, *links, reason=Reason.OK, redirect_to=""):
        """Finish the next URL of a part."""
        frontier = self.frontiers[number]
        claim = frontier.claim(0.0, 60.0)
        outcome = Outcome(State.DONE, reason, 200, redirect_to=redirect_to)
        frontier.finish(claim, outcome, 1.0, links)
        return claim

    def exchange(self):
        """Hand over everything that is committed; return the number of batches."""
        batches = 0
        for sender, frontier in enumerate(self.frontiers):
            for batch in list(frontier.batches(range(PARTS))):
                self.frontiers[batch.part].receive(batch.links)
                self.frontiers[batch.part].flush()
                frontier.acknowledge(batch.part)
                batches += 1
            frontier.flush()
        return batches

    def close(self):
        for frontier in self.frontiers:
            frontier.close()


@pytest.fixture
def parts(tmp_path):
    parts = Parts(tmp_path)
    yield parts
    parts.close()


def test_link_goes_to_its_part_with_what_led_to_it(parts, tmp_path):
    parts.add(0, found("", 0, depth=0))
    parts.finish(0, found("a", 0), found("b", 1), found("c", 1, 5, Reason.NOFOLLOW))
    parts.frontiers[0].flush()

    assert not parts.frontiers[0].is_drained()
    assert parts.exchange() == 1

    first, second, third = parts.frontiers
    assert not first.has_outgoing
    assert first.urls() == ["http://0.test/", "http://0.test/a"]
    assert [(r.url, r.state, r.depth, r.via) for r in second.records()] == [
        ("http://1.test/b", State.QUEUED, 1, "http://0.test/"),
        ("http://1.test/c", State.EXCLUDED, 5, "http://0.test/"),
    ]
    assert third.is_drained()


def test_link_is_sent_once_unless_a_refusal_has_ended(parts):
    frontier = parts.frontiers[0]
    parts.add(0, found("a", 1), found("b", 1, refusal=Reason.TOO_DEEP))
    assert "http://1.test/a" in frontier
    assert "http://1.test/b" not in frontier
    parts.exchange()

    parts.add(0, found("a", 1), found("b", 1, refusal=Reason.NOFOLLOW))
    assert parts.exchange() == 0
    parts.add(0, found("b", 1))
    assert parts.exchange() == 1
    assert parts.frontiers[1].count(State.QUEUED) == 2
    assert parts.frontiers[1].count(State.EXCLUDED) == 0


def test_link_whose_refusal_has_ended_is_sent_after_a_restart_too(parts, monkeypatch):
    monkeypatch.setattr("crawler_app.store.frontier.saved_keys.MAX_UNSAVED", 0)
    parts.add(0, found("a", 0), found("b", 1, refusal=Reason.TOO_DEEP))
    parts.exchange()
    parts.frontiers[0].close()
    parts.frontiers[0] = parts.open(0)

    assert "http://0.test/a" in parts.frontiers[0]
    assert "http://1.test/b" not in parts.frontiers[0]
    parts.add(0, found("b", 1))
    assert parts.exchange() == 1
    assert parts.frontiers[1].urls(State.QUEUED) == ["http://1.test/b"]


def test_only_committed_links_are_sent(parts):
    parts.add(0, found("", 0, depth=0), found("x", 0))
    parts.finish(0, found("a", 1))

    assert list(parts.frontiers[0].batches([1])) == []
    parts.die(0)
    assert not parts.frontiers[0].has_outgoing
    parts.finish(0, found("a", 1))
    parts.frontiers[0].flush()
    assert len(list(parts.frontiers[0].batches([1]))) == 1


def test_links_wait_for_acknowledgements_and_follow_in_order(parts, monkeypatch):
    monkeypatch.setattr(part_module, "BATCH_CHARS", 1)
    frontier = parts.frontiers[0]
    for number in range(10):
        parts.add(0, found(str(number), 1), found(str(number), 2))

    received = []
    while batches := list(frontier.batches([1])):
        assert len(batches) <= part_module.MAX_UNACKNOWLEDGED
        for batch in batches:
            parts.frontiers[1].receive(batch.links)
            frontier.acknowledge(1)
            received.append(batch.id)

    assert received == sorted(received)
    assert parts.frontiers[1].urls() == [f"http://1.test/{n}" for n in range(10)]
    assert frontier.outgoing_urls() == 10


@pytest.mark.parametrize("role", Role)
def test_url_keeps_its_role_and_its_turn_in_its_part(parts, role):
    parts.add(1, found("page", 1, depth=0))
    parts.add(0, found("a", 1, depth=5, role=role))
    parts.exchange()

    owner = parts.frontiers[1]
    assert [record.role for record in owner.records()] == [Role.LINK, role]
    assert owner.count_non_pages(State.QUEUED) == role.is_non_page
    first = owner.claim(0.0, 60.0)
    assert first.url.endswith("/a") == role.is_non_page


def test_links_on_their_way_count_as_urls_that_are_left(parts, tmp_path):
    image = found("d", 1, role=Role.ASSET)
    skipped = found("c", 2, 1, Reason.NOFOLLOW, Role.ASSET)
    parts.add(0, found("a", 1), found("b", 2), skipped, image)

    union = UnionFrontier(
        [PartFrontier(tmp_path / str(n), read_only=True) for n in range(PARTS)]
    )

    assert union.count(State.QUEUED) == 3
    assert union.count_non_pages(State.QUEUED) == 1
    assert not union.is_drained()
    union.close()


def test_failed_commit_loses_no_link_that_was_committed(tmp_path):
    fails = False

    def before_commit():
        if fails:
            raise FrontierError("full")

    path = tmp_path / "frontier"
    frontier = PartFrontier(path, part_of=part_of, before_commit=before_commit)
    frontier.add([found("", 0, 0), found("a", 1)])
    frontier.flush()
    sent = list(frontier.batches([1]))
    fails = True
    frontier.finish(
        frontier.claim(0.0, 60.0), Outcome(State.DONE, "ok"), 0.0, [found("b", 1)]
    )
    with pytest.raises(FrontierError):
        frontier.flush()
    fails = False

    frontier.acknowledge(1)
    frontier.add([found("c", 1)])
    frontier.flush()

    (batch,) = frontier.batches([1])
    assert len(sent) == 1 and batch.id > sent[0].id
    assert "/c" in batch.links and "/b" not in batch.links
    frontier.close()


@pytest.mark.parametrize("seed", range(4))
def test_all_parts_meet_every_url_once_despite_kills(parts, seed):
    # A URL leads to two others, until there are fifty; any part may die at any time.
    dice = random.Random(seed)

    def links_of(url):
        number = int(url.rpartition("/")[2])
        return [
            found(str(n), n % PARTS) for n in (2 * number + 1, 2 * number + 2) if n < 50
        ]

    parts.add(0, found("0", 0))
    while not all(frontier.is_drained() for frontier in parts.frontiers):
        number = dice.randrange(PARTS)
        frontier = parts.frontiers[number]
        step = dice.random()
        if step < 0.2:
            parts.die(number)
        elif step < 0.7 and (claim := frontier.claim(0.0, 60.0)) is not None:
            outcome = Outcome(State.DONE, Reason.OK)
            frontier.finish(claim, outcome, 0.0, links_of(claim.url))
            if dice.random() < 0.5:
                frontier.flush()
        elif step < 0.9:
            for batch in list(frontier.batches(range(PARTS))):
                other = parts.frontiers[batch.part]
                other.receive(batch.links)
                if dice.random() < 0.5:  # otherwise the receiver dies before the commit
                    other.flush()
                    frontier.acknowledge(batch.part)
                else:
                    parts.die(batch.part)
                    parts.die(number)  # and the sender sends again
                    break

    urls = [url for frontier in parts.frontiers for url in frontier.urls(State.DONE)]
    assert sorted(urls) == sorted(f"http://{n % PARTS}.test/{n}" for n in range(50))
