"""What the body of a response says::

    charset         bytes -> text, in the charset the page declares
    html            title, links, text and robots directives of a page
      text          what a person reads, and its headings
      elements      which elements are invisible, block-level or headings
      flat_html     the same without a tree, for pages too deep to parse as one
      settled_links skips links already handled in the same directory
    anchors         links together with their words
    sitemap         the URLs that a sitemap lists

Pure: bytes in, values out; no clock, no socket, no disk.
"""
