"""By which URL the response to a request with a body is looked up: as pywb does it."""

import pytest

from crawler_app.store.archive.lookup import lookup_url, split_lookup_url

URL = "http://a.test/q"
FORM = "multipart/form-data; boundary=BB"
PARTS = (
    b'--BB\r\nContent-Disposition: form-data; name="a"\r\n\r\n1 2\r\n'
    b'--BB\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n\xff\r\n--BB--\r\n'
)


def head(content_type, method="POST"):
    return f"{method} /q HTTP/1.1\r\nContent-Type: {content_type}\r\n\r\n".encode()


# As pywb 2.10 has them, but for the last, which it cannot read.
@pytest.mark.parametrize(
    ("content_type", "body", "query"),
    [
        ("application/x-www-form-urlencoded", b"a=1+2&b=%C3%BC", "a=1 2&b=ü"),
        ("application/x-www-form-urlencoded", b"\xff", "__wb_post_data=/w=="),
        (
            "application/json; charset=utf-8",
            b'{"a": {"b": [1, 2.0, 0.5]}, "b": true, "n": null, "t": "x y"}',
            "b=1&b.2_=2&b.3_=0.5&b.4_=true&n=null&t=x+y",
        ),
        ("application/json", b"{", ""),
        ("text/plain;charset=UTF-8", b'{"a": 1}', "a=1"),
        ("text/plain", b"a", "__wb_post_data=YQ=="),
        ("application/octet-stream", b"\x01\x02\xff", "__wb_post_data=AQL/"),
        (FORM, PARTS, "a=1+2&f=%FF"),
    ],
)
def test_a_body_becomes_arguments(content_type, body, query):
    found = lookup_url(URL, head(content_type), body)

    assert found == f"{URL}?__wb_method=POST{query and '&' + query}"
    assert split_lookup_url(found) == (URL, "POST", query)


@pytest.mark.parametrize(
    ("method", "end"), [("DELETE", "&__wb_method=DELETE"), ("GET", "")]
)
def test_a_request_without_a_body_differs_by_its_method(method, end):
    assert lookup_url(f"{URL}?a", head("", method), b"") == f"{URL}?a{end}"


def test_a_long_body_is_cut_and_a_deep_one_is_read():
    deep = b"[" * 5000 + b"]" * 5000

    assert len(lookup_url(URL, head("text/plain"), bytes(9000))) < 4200
    lookup_url(URL, head("application/json"), b'{"a":' * 500 + b"1" + b"}" * 500)
    lookup_url(URL, head("application/json"), deep)
