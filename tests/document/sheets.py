"""Comparison tables as tests look at them."""

from howlate.compare.compare import Block, Comparison
from howlate.compare.document import of_block
from howlate.document.sheet import Sheet, SheetCell


def sheet(found: Comparison, block: Block) -> Sheet:
    return of_block(found, block, 0).plain()


def who(table: Sheet) -> list[tuple[str, str]]:
    """Of each row the side, and what of it the row is."""
    texts = {column.key: [cell.text for cell in column.cells] for column in table.columns}
    if "what" in texts:
        return list(zip(texts["side"], texts["what"], strict=True))
    rows = zip(table.rows, texts["side"], strict=True)
    return [("", text) if row.kind == "published" else (text, "") for row, text in rows]


def row(table: Sheet, number: int) -> dict[str, SheetCell]:
    """By the column's key the cell."""
    return {column.key: column.cells[number] for column in table.columns}
