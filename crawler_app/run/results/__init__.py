"""The results of a crawl, read from its frontier::

summary     counts and short lists; with ranking, the slowest and the largest URLs
start_urls  why a start URL gave no page
redirects   where redirects lead: chains and loops
comparison  new, changed and vanished pages since the previous crawl
"""
