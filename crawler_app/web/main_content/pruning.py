"""Takes everything out of a tree that is not in some of its blocks, or between them.

Pure.  What has no text, such as an image or a rule, stays after a block that stays.
"""

from collections.abc import Collection

from turbohtml import Element, Node, Text

from crawler_app.web.main_content.blocks import BLOCK_TAGS, Block, Page
from crawler_app.web.main_content.signs import TABLE

__all__ = ["keep_only"]

# A row has as many as before.
_CELLS = ("td", "th")


def keep_only(kept: Collection[Block], page: Page) -> None:
    """Take all other blocks out of the tree.

    A table stays as a whole, or goes.

    Args:
        kept: Some of the blocks.

    >>> from turbohtml import parse
    >>> from crawler_app.web.main_content.blocks import page_of
    >>> tree = parse("<div>Menu<p>A <b>B</b><div><img></div><ul><li>C</ul></div>")
    >>> page = page_of(tree.root[1])
    >>> keep_only([page.blocks[2]], page)
    >>> tree.root[1].inner_html
    '<div><p>A <b>B</b></p><div><img></div></div>'
    """
    chosen = {block.element: block for block in _with_whole_tables(kept, page.blocks)}
    staying: set[Node] = {page.blocks[0].element}
    for element in chosen:
        node: Node | None = element
        while node is not None and node not in staying:
            staying.add(node)
            node = node.parent
    is_after_kept = False
    body = page.blocks[0].element
    open_elements = [(iter(list(body)), body in chosen)]
    while open_elements:
        nodes, is_kept = open_elements[-1]
        for node in nodes:
            if node in staying:
                assert isinstance(node, Element)
                block = chosen.get(node)
                if block is not None and block.all_blocks == 1:
                    is_after_kept = True  # with all that is in it
                    continue
                is_inside = is_kept if node.tag not in BLOCK_TAGS else block is not None
                open_elements.append((iter(list(node)), is_inside))
                break
            tag = node.tag if isinstance(node, Element) else ""
            stays = is_kept and tag not in BLOCK_TAGS
            if node in page.with_text or (type(node) is Text and node.data.strip()):
                is_after_kept = stays
            else:
                stays = stays or is_after_kept or tag in _CELLS
            if not stays:
                node.extract()
        else:
            open_elements.pop()


def _with_whole_tables(
    kept: Collection[Block], blocks: Collection[Block]
) -> set[Block]:
    """Return the blocks with all of a table if more than half of it is among them."""
    chosen = set(kept)
    cells_by_table: dict[Block, list[Block]] = {}
    for block in blocks:
        if block.chars and block.signs & TABLE:
            cells_by_table.setdefault(_table_around(block), []).append(block)
    for cells in cells_by_table.values():
        chars = sum(cell.chars for cell in cells)
        if 2 * sum(cell.chars for cell in cells if cell in chosen) > chars:
            chosen.update(cells)
        else:
            chosen.difference_update(cells)
    return chosen


def _table_around(block: Block) -> Block:
    while block.tag != "table" and block.parent is not None:
        block = block.parent
    return block
