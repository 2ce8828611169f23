"""The encodings of text files that an agent may name, and what to try if a file does not have one."""

from __future__ import annotations

import codecs

from skills.lib.errors import UsageError, did_you_mean, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

UTF_8 = "utf-8"
# In each of these a line feed is the byte 0x0A, or has it: lines can be counted in the bytes of a file.
NAMES = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "ascii"),
    *("latin-1", "cp1252", "iso8859-15", "mac-roman", "cp437", "cp850", "cp858"),
    *("iso8859-2", "cp1250", "cp852", "mac-latin2", "iso8859-5", "cp1251", "koi8-r", "koi8-u", "cp866"),
    *("iso8859-7", "cp1253", "iso8859-9", "cp1254", "iso8859-8", "cp1255", "iso8859-6", "cp1256"),
    *("iso8859-3", "iso8859-4", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-16", "cp1257", "cp1258"),
    *("iso8859-11", "tis-620", "cp874", "shift_jis", "cp932", "euc_jp", "iso2022_jp"),
    *("gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950", "euc_kr", "cp949", "johab"),
)
# How much of a file is looked at for zero bytes, and what share of it they are in a text of two bytes a character.
_LOOKED_AT, _ZEROS = 4_096, 0.35
# In these a text has zero bytes, as only binary files have otherwise.
WIDE = frozenset(name for name in NAMES if name.startswith(("utf-16", "utf-32")))
_KNOWN = {codecs.lookup(name).name: name for name in NAMES}
# What a byte order mark at the beginning of a file says; the longer ones first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What is named for a file that is not UTF-8, if it can be read so: what is common, and what reads any bytes last.
_TRIED = ("cp1252", "shift_jis", "gb18030", "latin-1")


def canonical(name: str) -> str:
    """The name by which an encoding is known here. Raises UsageError for what is no encoding of texts."""
    try:
        known = codecs.lookup(name.strip()).name if name.isascii() and len(name) < 40 else ""
    except (LookupError, ValueError):
        known = ""
    if known in _KNOWN:
        return _KNOWN[known]
    near = did_you_mean(nearest(name.lower(), NAMES))
    raise UsageError(f"{name!r:.60} is no encoding of texts{near}", valid=", ".join(NAMES))


def marked(data: bytes) -> str:
    """The encoding, UTF-8 apart, that a byte order mark or the places of zero bytes tell; empty if nothing does."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "") or _by_zeros(data[:_LOOKED_AT])


def _by_zeros(data: bytes) -> str:
    """UTF-16 if every second byte of most characters is zero, as in a text of mostly Latin letters; else empty."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if not data or even + odd < len(data) * _ZEROS or min(even, odd) > 0:
        return ""
    return "utf-16-be" if even else "utf-16-le"


def decoded(data: bytes, encoding: str, name: str) -> str:
    """The content of a file as text. Raises UsageError that says where it is not, and which encodings read it."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{data[error.start]:02X}" if error.start < len(data) else "its end"
        fits = [f'encoding="{one}"' for one in _fitting(data) if one != encoding]
        raise UsageError(
            f"{name} is not {encoding}: {byte} in line {line:,} cannot be read ({error.reason})",
            remedy=f"read it with {' or '.join(fits)}: a wrong one shows wrong letters",
        ) from None


def _fitting(data: bytes) -> Iterator[str]:
    """The encodings that are worth a try, in which the whole content can be read."""
    for one in filter(None, (UTF_8, marked(data), *_TRIED)):
        try:
            data.decode(one)
        except UnicodeDecodeError:
            continue
        yield one
