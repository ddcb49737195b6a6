"""Checks a site: finds every broken reference, and where it is.

A crawl shows what it reads to a tracker, which pairs references with the ends of the URLs that
they lead to::

    check_config         what a check reports, and how                         pure
    checking             runs a crawl with a tracker
      own_folders        the folders that it serves, and the names of their pages
      reference_tracker  pairs references with the ends of their URLs
      ends               how URLs have ended                                  pure
      places             the places on pages that fragments name              pure
      offline            what this machine's own network may have caused
      reporting          makes findings of references                         pure
      waiting            references that wait for the ends of their URLs, on disk
      completeness       why a check has not seen the whole site              pure
    preparing            defaults, and a place for pages that are read again
    page_findings        what is wrong with the pages, as in the report
    local_server         serves files and folders of this machine on loopback
    folder_ports         keeps their ports, for a later check
    sources              where findings are in the sources of the site
    output               findings for people and programs, in several formats  pure
      sarif              the format of code scanners                           pure
      escapes            makes any text harmless in them                       pure

Rule: a finding is reported once, as soon as it is certain.
"""
