"""Takes everything out of a tree that is not in some of its blocks, or between them.

Pure.  What has no text, such as an image or a rule, stays after a block that stays.
"""

from collections.abc import Collection, Sequence

from turbohtml import Element, Node

from crawler_app.web.main_content.blocks import Block
from crawler_app.web.main_content.signs import TABLE

__all__ = ["keep_only"]


def keep_only(kept: Collection[Block], blocks: Sequence[Block]) -> None:
    """Take all other blocks out of the tree.

    A table stays as a whole, or goes.

    Args:
        kept: Some of the blocks.
        blocks: All of the page, in document order.

    >>> from turbohtml import parse
    >>> from crawler_app.web.main_content.blocks import blocks_of
    >>> page = parse("<div>Menu<p>A <b>B</b><div><img></div><ul><li>C</ul></div>")
    >>> blocks = blocks_of(page.root[1])
    >>> keep_only([blocks[2]], blocks)
    >>> page.root[1].inner_html
    '<div><p>A <b>B</b></p><div><img></div></div>'
    """
    chosen = _with_whole_tables(kept, blocks)
    staying: set[Element] = set()
    for block in chosen:
        element: Node | None = block.element
        while isinstance(element, Element) and element not in staying:
            staying.add(element)
            element = element.parent
    elements = {block.element for block in blocks}
    gone: set[Block] = set()
    is_after_kept = False
    for block in blocks:
        if block.text:
            is_after_kept = block in chosen
        if block.parent in gone:
            gone.add(block)
        elif block.element in staying:
            if block.text and block not in chosen:
                _take_own_text(block.element, staying, elements)
        elif block.all_chars or not is_after_kept:
            block.element.decompose()
            gone.add(block)


def _with_whole_tables(kept: Collection[Block], blocks: Sequence[Block]) -> set[Block]:
    """Return the blocks with all of a table if more than half of it is among them."""
    chosen = set(kept)
    cells_by_table: dict[Block, list[Block]] = {}
    for block in blocks:
        if block.text and block.signs & TABLE:
            cells_by_table.setdefault(_table_around(block), []).append(block)
    for cells in cells_by_table.values():
        chars = sum(len(cell.text) for cell in cells)
        if 2 * sum(len(cell.text) for cell in cells if cell in chosen) > chars:
            chosen.update(cells)
        else:
            chosen.difference_update(cells)
    return chosen


def _table_around(block: Block) -> Block:
    while block.element.tag != "table" and block.parent is not None:
        block = block.parent
    return block


def _take_own_text(
    element: Element, staying: set[Element], blocks: set[Element]
) -> None:
    """Take the text out of an element, but not the blocks in it."""
    for node in list(element):
        if isinstance(node, Element):
            if node in blocks:
                continue
            if node in staying:
                _take_own_text(node, staying, blocks)
                continue
        node.extract()
