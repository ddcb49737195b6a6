"""The pages of a crawl as a folder that opens from the disk, without a server.

A page and what it needs are files, and the references among them are relative.  Only
attribute values and the URLs in style sheets change, so that no page changes its looks; what
the crawl does not have is left on the web, with its whole URL::

    writing    reads the archive and writes the folder: complete or not at all
    files      which URL is which file, where redirects lead, what is broken
    rewriting  the references of pages and style sheets              pure
"""
