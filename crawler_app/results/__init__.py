"""The results of a crawl, read from its frontier: counts, comparison, redirects, export."""
