"""What a watch remembers of the checks, and what it decides.

Rule: a method that changes something is one transaction.
"""

import json
import sqlite3
from collections.abc import Sequence

from crawler_app.base.text.formatting import number
from crawler_app.show.watch.deciding import Change, Known, Rule, State, decide
from crawler_app.show.watch.looking import Look, Sighting
from crawler_app.show.watch.memory_file import DAY_S, MemoryFile
from crawler_app.show.watch.notices.notice import Event

__all__ = ["Memory"]

# After this time what is over is forgotten.
KEPT_S = 400 * DAY_S
# Of findings of a site that are fine again; a hostile site has new ones in each check.
MAX_FINE = 20_000

# If nothing was reached for this time, that is told.
BLIND_S = 1.5 * DAY_S


class Memory(MemoryFile):
    """The memory of a watch."""

    def last_check_at(self, site: str) -> float | None:
        """Return when the last check of a site began; None if there was none."""
        last: float | None = self.one("SELECT max(at) FROM run WHERE site = ?", site)
        return last

    def note_void(self, site: str, at: float, caveat: str) -> None:
        """Note a check that has reached nothing, from which nothing follows."""
        with self.transaction():
            self._add_run(site, at, True, caveat, 0)

    def note(
        self,
        site: str,
        look: Look,
        at: float,
        *,
        external: Rule,
        own: Rule,
        first_run: str = "summary",
    ) -> list[Event]:
        """Note a check, decide what is to be told, and return that."""
        is_first = not self.one(
            "SELECT count(*) FROM run WHERE site = ? AND urls > 0", site
        )
        before = self.one("SELECT max(id) FROM event") or 0
        with self.transaction():
            told = 0
            for row in self.rows("SELECT * FROM finding WHERE site = ?", site):
                id = (row["kind"], row["target"], row["detail"])
                if (seen := look.sightings.get(id)) is not None:
                    self._refresh(row["id"], seen, at)
                elif not all(map(look.is_fixed, map(tuple, json.loads(row["keys"])))):
                    continue
                rule = external if row["kind"] == "external" else own
                self._decide(row, seen, at, rule, is_silent=False)
            known = self._known_ids(site)
            for id, seen in look.sightings.items():
                if id not in known:
                    rule = external if seen.is_external else own
                    row = self._add(site, seen, at)
                    is_silent = is_first and first_run != "each"
                    told += self._decide(row, seen, at, rule, is_silent=is_silent)
            if is_first and look.urls and first_run == "summary":
                self.add_event(at, site, "first", words=_first_words(look, told))
            self._add_run(site, at, False, look.caveat, look.urls)
            self._forget(site, at)
        return self.events_after(before)

    def note_blind(self, sites: Sequence[str], now: float) -> None:
        """Note that no site was reached in a round; after a long time, tell so once."""
        marks = ",".join("?" * len(sites))
        last = self.one(
            f"SELECT max(at) FROM run WHERE NOT is_void AND site IN ({marks})", *sites
        ) or self.one(f"SELECT min(at) FROM run WHERE site IN ({marks})", *sites)
        if last is None or now - last < BLIND_S or self.fact("blind") == str(last):
            return
        words = (
            f"nothing of {number(len(sites), 'site')} can be reached for "
            f"{(now - last) / DAY_S:.1f} days: this machine is offline, or all are down"
        )
        with self.transaction():
            self.set_fact("blind", str(last))
            self.add_event(now, "", "blind", words=words)

    def _known_ids(self, site: str) -> set[tuple[str, str, str]]:
        rows = self.rows(
            "SELECT kind, target, detail FROM finding WHERE site = ?", site
        )
        return {(row["kind"], row["target"], row["detail"]) for row in rows}

    def _add(self, site: str, seen: Sighting, at: float) -> sqlite3.Row:
        values = (site, *seen.id, seen.words, seen.place, seen.places)
        added = self.db.execute(
            "INSERT INTO finding (site, kind, target, detail, words, place, places, keys, "
            "state, recent, steady_since, first_seen, last_seen) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
            (*values, json.dumps(seen.keys), State.FINE, at, at, at),
        )
        return self.rows("SELECT * FROM finding WHERE id = ?", added.lastrowid)[0]

    def _refresh(self, id: int, seen: Sighting, at: float) -> None:
        self.db.execute(
            "UPDATE finding SET words = ?, place = ?, places = ?, keys = ?, last_seen = ? "
            "WHERE id = ?",
            (seen.words, seen.place, seen.places, json.dumps(seen.keys), at, id),
        )

    def _decide(
        self,
        row: sqlite3.Row,
        seen: Sighting | None,
        at: float,
        rule: Rule,
        *,
        is_silent: bool,
    ) -> bool:
        """Change the state of a finding; return whether that is to be told."""
        before = Known(
            State(row["state"]),
            row["recent"],
            row["failing_since"],
            row["steady_since"],
            row["mended_at"],
        )
        failed = seen is not None
        known, change = decide(before, failed, at, rule)
        self.db.execute(
            "UPDATE finding SET state = ?, recent = ?, failing_since = ?, steady_since = ?, "
            "mended_at = ? WHERE id = ?",
            (
                *(known.state, known.recent, known.failing_since),
                *(known.steady_since, known.mended_at, row["id"]),
            ),
        )
        self._note_spell(row["id"], failed, at)
        if change is not None and not is_silent:
            words = row["words"] if seen is None else seen.words
            if change is Change.MENDED:
                words = f"works again, or is no longer referred to (was: {words})"
            place, places = (row["place"], row["places"])
            if seen is not None:
                place, places = seen.place, seen.places
            since = (
                row["first_seen"]
                if known.failing_since is None
                else known.failing_since
            )
            self.add_event(
                at, row["site"], change, row["target"], words, place, places, since
            )
        return change is not None

    def _note_spell(self, id: int, failed: bool, at: float) -> None:
        is_open = self.one(
            "SELECT count(*) FROM spell WHERE finding = ? AND ended_at IS NULL", id
        )
        if failed and not is_open:
            self.db.execute("INSERT INTO spell VALUES (?, ?, NULL)", (id, at))
        elif is_open and not failed:
            self.db.execute(
                "UPDATE spell SET ended_at = ? WHERE finding = ? AND ended_at IS NULL",
                (at, id),
            )

    def _add_run(
        self, site: str, at: float, is_void: bool, caveat: str, urls: int
    ) -> None:
        dead = self.one(
            "SELECT count(*) FROM finding WHERE site = ? AND state != ?",
            site,
            State.FINE,
        )
        self.db.execute(
            "INSERT INTO run (site, at, is_void, caveat, urls, dead) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (site, at, is_void, caveat, urls, dead),
        )

    def _forget(self, site: str, now: float) -> None:
        """Forget what is long over."""
        fine = "site = ? AND state = 'fine' AND failing_since IS NULL"
        self.db.execute(
            f"DELETE FROM finding WHERE {fine} AND (last_seen < ? OR id NOT IN ("
            f"SELECT id FROM finding WHERE {fine} ORDER BY last_seen DESC LIMIT {MAX_FINE}))",
            (site, now - KEPT_S, site),
        )
        self.db.execute(
            "DELETE FROM spell WHERE finding NOT IN (SELECT id FROM finding)"
        )
        self.db.execute("DELETE FROM run WHERE at < ?", (now - KEPT_S,))
        self.db.execute(
            "DELETE FROM notice WHERE sent_at IS NOT NULL AND made_at < ?",
            (now - KEPT_S,),
        )
        # No channel that is served has waited so long for an event.
        self.db.execute(
            "DELETE FROM event WHERE at < ? AND id < coalesce("
            "(SELECT min(first_event) FROM notice WHERE sent_at IS NULL), 1 << 62)",
            (now - KEPT_S,),
        )


def _first_words(look: Look, told: int) -> str:
    waiting = len(look.sightings) - told
    words = f"{number(look.urls, 'URL')} checked, {number(told, 'finding')} from now on known"
    if waiting:
        words += f", {waiting:,} that must be seen again first"
    return words
