"""What can be wrong with a page, a link or a site: one home for check, report and exports.

Inside::

    kinds            the kinds of findings: how bad each is, and what it means   pure
    page_rules       what is wrong with one page                                 pure
    near_duplicates  pages with nearly the same text                             pure
    finding          a finding of a check, and the counts of its summary         pure
    grouping         findings by target, and pages by template                   pure
    comparison       findings that are new, still there, or fixed
    wording          findings and the summary in words                           pure

Rule: a kind is named, graded and explained in `kinds` alone.  What is wrong between pages are
queries of the tables of a report: `crawler_app.show.report.site_rules`.
"""
