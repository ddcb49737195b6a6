"""Exercise 8: robots.txt is obeyed, and a line says which URLs were skipped."""

import dataclasses

from check import fresh

from crawler_app import Reason

stage = fresh("8_crawler")
config_without_rules, line_of = stage.CrawlConfig, stage.line_of


def config_with_rules(**options):
    return dataclasses.replace(config_without_rules(**options), robots=True)


def line_of_each(record):
    if record.outcome.reason == Reason.ROBOTS:
        return f"skipped {record.url}"
    return line_of(record)


stage.STATES = (*stage.STATES, stage.State.EXCLUDED)
stage.CrawlConfig, stage.line_of = config_with_rules, line_of_each
crawl = stage.crawl
