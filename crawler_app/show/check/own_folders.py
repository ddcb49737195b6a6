"""The folders of this machine that a check serves, and what it calls their pages."""

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from crawler_app.base.errors import ConfigError
from crawler_app.base.urls import host_of
from crawler_app.show.check.folder_ports import adopt_seeds, ports_in, save_ports
from crawler_app.show.check.local_server import LocalFolder, is_local
from crawler_app.show.findings.comparison import Key
from crawler_app.show.findings.finding import Finding

__all__ = ["OwnFolders"]


class OwnFolders:
    """The folders among the targets of a check.

    A page has a name, as the targets on the command line are written, and an own name, which
    does not depend on the working directory.

    Args:
        targets: URLs, and the names of files and folders.
        base_url: Where the only folder will be published; empty if that does not matter.

    Attributes:
        urls: The targets that are URLs.

    Raises:
        ConfigError: a target is none, or the base URL is not that of one folder.
    """

    def __init__(self, targets: Sequence[str], base_url: str) -> None:
        self.folders = [LocalFolder(Path(t), base_url) for t in targets if is_local(t)]
        self.urls = [target for target in targets if not is_local(target)]
        for target in self.urls:
            if "://" not in target:
                raise ConfigError(
                    f"there is no file or folder {target!r}; a URL begins with https://"
                )
        if base_url and (self.urls or len(self.folders) > 1):
            raise ConfigError("a base URL is that of one folder; check it alone")
        self._ports: dict[str, int] = {}
        self._own_name_by_name: dict[str, str] = {}
        self._name_by_own_name: dict[str, str] = {}

    def serve(self, cleanup: contextlib.ExitStack, into: Path | None) -> list[str]:
        """Serve the folders; return the URLs of their pages.

        Args:
            into: The directory of the check, by which they have the ports of the last one.
        """
        names = [folder.name for folder in self.folders]
        self._ports = ports_in(into, names) if into else {}
        seeds = []
        for folder in self.folders:
            cleanup.enter_context(folder.served(self._ports.get(folder.name, 0)))
            seeds += folder.seeds()
        return seeds

    def remember(self, into: Path, seeds: tuple[str, ...]) -> None:
        """Let a later check into the same directory find the pages at their URLs."""
        if self._ports:
            adopt_seeds(into, seeds)
        else:
            save_ports(into, {folder.name: folder.port for folder in self.folders})

    @property
    def hosts(self) -> set[str]:
        """The hosts at which they are served."""
        return {host_of(folder.url) for folder in self.folders}

    def name_of(self, url: str) -> str:
        """Return the name to show for a URL."""
        for folder in self.folders:
            if (name := folder.name_of(url)) != url:
                own_name = folder.own_name_of(url)
                self._own_name_by_name[name] = own_name
                self._name_by_own_name[own_name] = name
                return name
        return url

    def served_at(self, url: str) -> str:
        """Return where a URL is served for the check."""
        for folder in self.folders:
            url = folder.served_at(url)
        return url

    def own_name(self, name: str) -> str:
        """Return the own name of a page."""
        return self._own_name_by_name.get(name, name)

    def key_of(self, finding: Finding) -> Key:
        """Return the key, which does not depend on the working directory."""
        kind, page, href, target, reason = finding.key
        return kind, self.own_name(page), href, self.own_name(target), reason

    def named(self, finding: Finding) -> Finding:
        """Return a finding that was read from a file with the names of this check."""
        names = self._name_by_own_name
        page = names.get(finding.page, finding.page)
        target = names.get(finding.target, finding.target)
        return dataclasses.replace(finding, page=page, target=target)
