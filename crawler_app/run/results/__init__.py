"""The results of a crawl, read from its frontier::

summary         counts and short lists; with ranking, the slowest and the largest URLs
start_urls      why a start URL gave no page
redirects       where redirects lead: chains and loops
rendered_pages  what rendering has gained and cost
comparison      new, changed and vanished pages since the previous crawl
"""
