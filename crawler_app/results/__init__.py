"""What a crawl came to, read from its frontier: counts, differences, redirects, exports."""
