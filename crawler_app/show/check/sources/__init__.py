"""Finds where a finding is in the sources of a site: Markdown, notebooks, templates.

No generator is run, and none is named: a page is paired with the file whose path is most like its
own, by the conventions that generators share, or with the one that its "edit" link names::

    finder          a finding's place in the sources
      page_files    which file a page is made from        pure
      tokens        what may be a reference in a file     pure

Rule: no place is better than a wrong one.
"""

from crawler_app.show.check.sources.finder import SourceFinder, SourcePlace

__all__ = ["SourceFinder", "SourcePlace"]
