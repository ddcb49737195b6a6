"""Parsers for HTML pages and sitemaps::

    reader          calls the parsers within limits of time and memory
    packing         what crosses from the sandbox, as built-in types
    charset         bytes -> text, in the charset the page declares; links as sent in that
    html            a page: title, robots directives, and what the others read
      tree          its tree, and the places of the elements
      xhtml         pages that are XML
      links         links that visitors follow, and their text
      references    all references: links, and what a browser loads
      outline       the same with their places, and the ids in the page
      named_urls    URLs that a page names for programs, and where its forms lead
      fragments     which fragments name a place that a page has
      text          the visible text, and the headings
      page_metadata   what a page says of itself, for a report
      scripted      whether a script makes the page in the browser
    refresh         where a page takes its visitors by itself
    resolving       where references lead, resolved once for many pages
    link_cache      skips links already handled on another page
    css             what a style sheet refers to
    non_html        what a style sheet or a manifest refers to
    srcset          the images that a srcset lists
    malformed       what is wrong with a reference as written
    sitemap         the URLs that a sitemap lists
      sitemap_xml   the same for XML and feeds
      sitemap_pieces  its text, unpacked and decoded
    pdf             title, text and links of PDF files
    sniffing        the type of a body without a Content-Type

All but the reader are pure: bytes in, values out; no clock, no socket, no disk.
"""
