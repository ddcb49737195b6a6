"""Small PDF files."""

__all__ = ["pdf_file"]


def pdf_file(*texts, title="", uris=()):
    """Return a PDF with a page for each text.

    Args:
        uris: Pairs of the number of a page and a URI, to which its text is a link.
    """
    objects = [b"", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]

    def add(content):
        objects.append(content)
        return b"%d 0 R" % len(objects)

    kids = []
    for number, text in enumerate(texts, 1):
        drawn = b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % text.encode()
        contents = add(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
        links = b" ".join(
            add(
                b"<</Type/Annot/Subtype/Link/Rect[70 690 400 715]"
                b"/A<</S/URI/URI(%s)>>>>" % uri.encode()
            )
            for page, uri in uris
            if page == number
        )
        kids.append(
            add(
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font"
                b"<</F1 3 0 R>>>>/Contents %s/Annots[%s]>>" % (contents, links)
            )
        )
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids))
    info = add(b"<</Title(%s)>>" % title.encode())
    return _file_of(objects, info)


def _file_of(objects, info):
    octets = b"%PDF-1.4\n"
    pieces, offsets = [octets], []
    at = len(octets)
    for number, content in enumerate(objects, 1):
        offsets.append(at)
        pieces.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
        at += len(pieces[-1])
    size = len(objects) + 1
    pieces.append(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    pieces += [b"%010d 00000 n \n" % offset for offset in offsets]
    pieces.append(b"trailer<</Size %d/Root 1 0 R/Info %s>>\n" % (size, info))
    pieces.append(b"startxref\n%d\n%%%%EOF" % at)
    return b"".join(pieces)
