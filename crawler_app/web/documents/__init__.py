"""Parsers for HTML pages and sitemaps::

    reader          calls the parsers within limits of time and memory
    packing         what crosses from the sandbox, as built-in types
    cost            which pages are certainly cheap to parse
    charset         bytes -> text, in the charset the page declares
    html            title, links, text and robots directives of a page
      tree          lexbor's tree of a page, and the links in it
      text          the visible text, and the headings
      elements      which elements are invisible, block-level or headings
      sent_links    links as a browser sends them
      tag_scanner   the same without a tree, for pages that make too large a tree
      refresh       where a page takes its visitors by itself
      link_cache    skips links already handled in the same directory
      anchors       links together with their text
    references      all references of a page, with their places
      outline       the same as plain values, with the ids in the page
      start_tags    the tags of a page, with their places in the source
      css           what a style sheet refers to
      non_html      what a style sheet or a manifest refers to
      srcset        the images that a srcset lists
      malformed     what is wrong with a reference as written
    page_metadata   description, robots directives, headings and images of a page
    sitemap         the URLs that a sitemap lists
      sitemap_xml   the same for XML and feeds
      sitemap_pieces  its content, unpacked and in UTF-8
    sniffing        the type of a body without a Content-Type

All but the reader are pure: bytes in, values out; no clock, no socket, no disk.
"""
