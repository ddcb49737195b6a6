"""tornado.locale and tornado.escape as code of Tornado 2 to 5 uses them."""

import tornado.escape
import tornado.locale
from tornado.locale import Locale

from tests.helpers.compat.rows import uses


@uses("tornado.locale.Locale.__init__")
def test_locale_with_translations(compat):
    class Shouting(Locale):
        def __init__(self, code, translations):
            super().__init__(code, translations)

        def translate(self, message, plural_message=None, count=None):
            return self.translations.get(message, message.upper())

    locale = Shouting("en_US", {"May": "may"})

    assert locale._months[3:5] == ["APRIL", "may"]
    assert Locale.get("en_US").code == "en_US"


@uses("tornado.locale.Locale.get")
def test_cache_of_locales_may_be_deleted(compat, monkeypatch):
    monkeypatch.setattr(Locale, "_cache", {})
    del Locale._cache

    assert Locale.get("en_US") is Locale.get("en_US")
    assert list(Locale._cache) == ["en_US"]


@uses("tornado.locale.get_supported_locales")
def test_supported_locales(compat):
    assert tornado.locale.get_supported_locales(Locale) == {"en_US"}
    assert tornado.locale.get_supported_locales() == {"en_US"}
