"""The settings of a directory that its user must have chosen on this machine.

A crawl directory may come from another person, and name a server that is to get $PGPASSWORD, a
file whose cookies are to be sent, or a proxy.  So what the user has given is signed; see
`crawler_app.base.ownership`.
"""

import json

from crawler_app.base.config import CrawlConfig

__all__ = ["FETCHING_ONLY", "settings_to_trust", "signed_settings"]

# What could be used against the user, by the names of the fields; the flags that give it.
FLAG_BY_SETTING = {
    "frontier": "--frontier",
    "cookie_file": "--cookies",
    "login_file": "--login",
    "proxy": "--proxy",
    "ca_file": "--ca",
    "client_cert": "--client-cert",
    "sign_key": "--sign",
}
SIGNED = ("frontier", "cookie_file", "proxy", "crawl_name")

# Those that matter only if something is fetched.
FETCHING_ONLY = (
    *("cookie_file", "login_file", "proxy"),
    *("ca_file", "client_cert", "sign_key"),
)


def settings_to_trust(config: CrawlConfig) -> dict[str, str]:
    """Return the flags of those settings of a directory that its user must have chosen."""
    flags = FLAG_BY_SETTING.items()
    return {name: flag for name, flag in flags if getattr(config, name)}


def signed_settings(config: CrawlConfig) -> str:
    """Return the text of these settings that is signed."""
    signed = [getattr(config, name) for name in SIGNED]
    files = [config.ca_file, config.client_cert, config.client_key]
    # Left out if empty, as in the signatures of earlier versions.
    if any(files):
        signed += files
    if config.sign_key:
        signed.append({"sign": [config.sign_key, config.sign_agent]})
    if config.login_file:
        signed.append({"login": config.login_file})
    return json.dumps(signed)
