"""Says why a check has not seen the whole site, so that silence is not taken for success.

Pure.
"""

from collections.abc import Callable, Iterator

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import as_given
from crawler_app.base.models import State
from crawler_app.base.reasons import Reason, is_broken, meaning_of, words_of_scripted
from crawler_app.base.text.formatting import number
from crawler_app.run.crawler import Result
from crawler_app.run.results.start_urls import complaint_about

__all__ = ["STOPPED", "why_incomplete"]

STOPPED = "it was stopped"

# A list on standard input may have thousands of URLs.
MAX_NAMED = 3


def why_incomplete(
    result: Result, config: CrawlConfig, name_of: Callable[[str], str]
) -> list[str]:
    """Return why a part of the site was not checked; empty if all of it was.

    Args:
        name_of: Returns the name to show for a start URL, which may be that of a file.
    """
    reasons = []
    if result.limit_reached:
        reasons.append(f"it was ended by {as_given(config, result.limit_reached)}")
    if result.was_stopped:
        reasons.append(STOPPED)
    reasons += result.closed_hosts
    if cut := result.summary.count_by_reason[State.DONE][Reason.TOO_HARD]:
        were = number(cut, "page was", "pages were")
        reasons.append(f"{were} read in part: parsing takes too much time or memory")
    away = result.summary.count_by_reason[State.FAILED][Reason.LOGIN_REQUIRED]
    if away and not config.login_file:
        reasons.append(f"{number(away, 'URL')}: {meaning_of(Reason.LOGIN_REQUIRED)}")
    unseen = list(_unseen_starts(result, config, name_of))
    reasons += [
        f"nothing was read from a start URL: {each}" for each in unseen[:MAX_NAMED]
    ]
    if more := len(unseen) - MAX_NAMED:
        reasons += [f"so for {number(more, 'more start URL')}"] * (more > 0)
    return reasons


def _unseen_starts(
    result: Result, config: CrawlConfig, name_of: Callable[[str], str]
) -> Iterator[str]:
    """Yield what is wrong with the start URLs that are no findings and were not read.

    One of a list that redirects to another site works, and no more was to be checked.
    """
    for seed, end in zip(config.seeds, result.seed_ends, strict=True):
        outcome = None if end is None else end.outcome
        if (
            outcome is None
            or outcome.state is State.FAILED
            and is_broken(outcome.reason)
        ):
            continue  # a limit is named already; a broken one is a finding
        if config.max_depth == 0 and outcome.state is State.DONE:
            continue
        if outcome.reason == Reason.MADE_BY_SCRIPT:
            words = words_of_scripted(is_rendered=config.render != "never")
            yield f"{name_of(seed)}: {words}"
        elif words := complaint_about(seed, end, name_of):
            yield words
