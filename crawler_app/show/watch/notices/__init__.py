"""The channels by which people are told, each behind the contract of `NoticeChannel`::

    notice      what is told, as plain text and as data         pure
    channel     what every channel does
    mail        mail by SMTP
    webhook     a signed POST request, as Standard Webhooks have it
    issue       one issue of GitHub or GitLab, kept current
    by_apprise  everything else, by the library apprise

Rule: a notice that may have been sent before is sent with the same id, and where the receiver can
be asked whether it has arrived, it is asked first.
"""
