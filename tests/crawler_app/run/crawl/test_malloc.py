"""Freed memory is at hand for the next page."""

import platform
import subprocess
import sys

import pytest

from tests.helpers.scripts import IMPORTS

# Parses pages one after the other, and tells how many page faults each of them took.
PARSE_PAGES = """
import resource, sys
from crawler_app.run.crawl.malloc import keep_freed_memory
from crawler_app.web.documents.html import parse_html

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

if sys.argv[1] == "keep":
    keep_freed_memory()
paragraph = b"<p>Some <em>words</em>, and <a href=x>links</a>."
# What the first page leaves for ever lies below the trees of the others.
parse_html(paragraph)
page = paragraph * 2400
parse_html(page)
before = faults()
for _ in range(40):
    parse_html(page)
print((faults() - before) / 40)
"""


# What the C library begins with.  It may give back less later, by what a program has freed.
BEGINNING = {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=131072"}


def faults_a_page(how, **settings):
    command = [sys.executable, "-c", PARSE_PAGES, how]
    # Settings of the C library's own would go before ours.
    return float(subprocess.check_output(command, env=IMPORTS | settings))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc's habit")
def test_tree_of_the_next_page_costs_no_page_faults():
    assert faults_a_page("keep") < 2
    # Or there would be nothing to do for us.
    assert faults_a_page("do not", **BEGINNING) > 20
