"""A link as a QR code."""

from __future__ import annotations

import segno


def qr_picture(link: str) -> str:
    """A QR code (ISO/IEC 18004) with its quiet zone, as the data URL of a black-on-white SVG."""
    return segno.make(link, error="m", micro=False).svg_data_uri(border=4, dark="#000", light="#fff", scale=8)
