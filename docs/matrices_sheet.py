"""Draw the pictures of docs/matrices.md: ``python docs/matrices_sheet.py``."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import vl_convert

from allminds.instruments.matrices.drawing.raster import composite_png
from allminds.instruments.matrices.drawing.svg import sheet_items, sheet_svg

IMAGES = Path(__file__).parent / "images"


def packed(png: bytes) -> bytes:
    """The same picture in fewer bytes: what the PNG holds, compressed once more and harder."""
    chunks, start = [], 8
    while start < len(png):
        (length,) = struct.unpack(">I", png[start : start + 4])
        chunks.append((png[start + 4 : start + 8], png[start + 8 : start + 8 + length]))
        start += 12 + length
    pixels = zlib.decompress(b"".join(data for name, data in chunks if name == b"IDAT"))
    kept = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    made = [*kept[:-1], (b"IDAT", zlib.compress(pixels, 9)), kept[-1]]
    return png[:8] + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in made
    )


def main() -> None:
    """The sheet of all rules, and an item as in the paper's Figure 2."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "matrices.png").write_bytes(packed(vl_convert.svg_to_png(sheet_svg(), scale=1.0)))
    like_figure_2 = next(item for item in sheet_items() if "Fig. 2" in item.told)
    (IMAGES / "matrices_item.png").write_bytes(composite_png(like_figure_2.problem, 120))


if __name__ == "__main__":
    main()
