"""Watches sites: checks them again and again, and tells people what is new and what is mended.

::

    watch_config   the file: sites, schedule, channels
    schedule       when a site is checked, and when notices wait       pure
    looking        one check of a site, as sightings
    deciding       when a sighting is told: broken, flapping, mended   pure
    memory         what was found and decided, and who was told
    watching       the round: check, decide, tell
    delivering     sends what is to be told, each notice once
    notices        mail, webhook, issue, apprise
    publishing     the page with the history, and the Atom feed

Rule: what is decided and what is to be told are written together, so that a crash loses no
notice; how far each channel was told is noted after each notice, so that none is made twice.
"""
