"""Parsers for HTML pages and sitemaps::

    charset         bytes -> text, in the charset the page declares
    html            title, links, text and robots directives of a page
      text          the visible text, and the headings
      elements      which elements are invisible, block-level or headings
      flat_html     the same without a tree, for pages too deep to parse as one
      settled_links skips links already handled in the same directory
    anchors         links together with their text
    sitemap         the URLs that a sitemap lists

Pure: bytes in, values out; no clock, no socket, no disk.
"""
