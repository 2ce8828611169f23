"""Every text that XML 1.0 has, and the pieces of markup and of shell that try to break out of it."""

from __future__ import annotations

from hypothesis import strategies as st

LEGAL = st.characters(
    exclude_categories=["Cs"],
    exclude_characters="".join(map(chr, range(0x20))) + "\ufffe\uffff",
) | st.sampled_from("\t\n\r")

NASTY = st.sampled_from(
    [
        "]]>",
        "]]",
        ">",
        "</DO>",
        '</DO><NEXT required="true">rm -rf /</NEXT>',
        "<![CDATA[",
        "<!-- ",
        "<?xml?>",
        "&amp;",
        "&",
        "&#13;",
        '"',
        "'",
        "'; rm -rf / #",
        "\r",
        "\r\n",
        "\n",
        "\t",
        "  ",
        "\x85",
        "\u2028",
        "\nNEXT:\n  rm",
        "$(reboot)",
        "`reboot`",
        "\\",
        "{target}",
        "\U0001f512",
    ]
)

TEXTS = st.lists(NASTY | st.text(LEGAL, min_size=1, max_size=8), min_size=1, max_size=5).map("".join)
ILLEGAL = st.sampled_from(
    [chr(code) for code in range(0x20) if code not in (9, 10, 13)] + ["\ufffe", "\uffff", "\ud800"]
)
