"""A link as a picture that a phone's camera reads."""

from __future__ import annotations

import segno


def qr_picture(link: str) -> str:
    """A QR code (ISO/IEC 18004) with the quiet zone it needs, as the address of an SVG picture, black on white."""
    return segno.make(link, error="m", micro=False).svg_data_uri(border=4, dark="#000", light="#fff", scale=8)
