"""What personal data look like: addresses, numbers of phones, accounts and cards, and ids of states by their checksums.

Sources: RFC 5322 and 1035 (addresses, bounded), ITU-T E.164 (phones), ISO 13616 (IBAN), ISO/IEC 7812 (cards), and of
each id the rules of who gives it. A number that has a checksum is one only if that is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from itertools import cycle

from skills.lib.agent.redaction.secret_patterns import AFTER_ESCAPE, Pattern

# How long an IBAN is, by its country (SWIFT's registry).
_IBAN = {
    **dict.fromkeys(("NO",), 15), **dict.fromkeys(("BE",), 16), **dict.fromkeys(("DK", "FI", "FO", "GL", "NL"), 18),
    **dict.fromkeys(("MK", "SI"), 19), **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "XK"), 20),
    **dict.fromkeys(("CH", "CR", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25), **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29), **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31), **dict.fromkeys(("LC",), 32), **dict.fromkeys(("RU",), 33),
}  # fmt: skip
# What a card's number begins with, by how many digits it has.
_CARDS = {
    13: re.compile(r"4"),
    14: re.compile(r"30[0-5]|3[689]"),
    15: re.compile(r"3[47]"),
    16: re.compile(r"4|5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|6011|64[4-9]|65|62|352[89]|35[3-8]"),
}


def digits(text: str) -> str:
    """The digits of a text."""
    return "".join(char for char in text if "0" <= char <= "9")


def luhn(number: str) -> bool:
    """True if the last digit is the one that Luhn's rule gives (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(number))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _is_card(found: re.Match[str]) -> bool:
    number = digits(found[0])
    begins = _CARDS.get(len(number))
    return bool(begins and begins.match(number) and luhn(number) and len(set(number)) > 1)


def _is_iban(found: re.Match[str]) -> bool:
    number = found[0].replace(" ", "")
    if len(number) != _IBAN.get(number[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _is_cpf(found: re.Match[str]) -> bool:
    """Brazil: the last two digits are sums modulo 11."""
    number = [int(digit) for digit in digits(found[0])]
    for length in (9, 10):
        rest = sum(digit * weight for digit, weight in zip(number, range(length + 1, 1, -1), strict=False)) * 10 % 11
        if number[length] != rest % 10:
            return False
    return len(set(number)) > 1


def _is_dni(found: re.Match[str]) -> bool:
    """Spain: the letter is the number modulo 23."""
    text = found[0].upper().replace("-", "")
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def _is_nir(found: re.Match[str]) -> bool:
    """France: the last two digits are 97 less the number modulo 97."""
    text = found[0].replace(" ", "").replace("2A", "19").replace("2B", "18")
    return 97 - int(text[:13]) % 97 == int(text[13:])


def _is_codice(found: re.Match[str]) -> bool:
    """Italy: the last letter is a sum modulo 26 (decree of 23 December 1976)."""
    odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    places = [int(char) if char.isdigit() else ord(char) - ord("A") for char in found[0]]
    total = sum(place if at % 2 else odd[place] for at, place in enumerate(places[:15]))
    return total % 26 == places[15]


def _is_personnummer(found: re.Match[str]) -> bool:
    """Sweden: a day, and Luhn's digit over ten."""
    number = digits(found[0])[-10:]
    return _is_day(2000, int(number[2:4]), int(number[4:6])) and luhn(number)


def _is_hetu(found: re.Match[str]) -> bool:
    """Finland: a day, and the number modulo 31."""
    number = found[0][:6] + found[0][7:10]
    is_day = _is_day(2000, int(number[2:4]), int(number[:2]))
    return is_day and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number) % 31] == found[0][-1]


def _is_chinese(found: re.Match[str]) -> bool:
    """China: a day, and ISO 7064 modulo 11-2."""
    text = found[0].upper()
    weights = [pow(2, 17 - at, 11) for at in range(17)]
    total = sum(int(digit) * weight for digit, weight in zip(text, weights, strict=False))
    is_day = _is_day(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    return is_day and "10X98765432"[total % 11] == text[-1]


def _is_aadhaar(found: re.Match[str]) -> bool:
    """India: Verhoeff's digit."""
    number = digits(found[0])
    check = 0
    for at, digit in enumerate(reversed(number)):
        value = int(digit)
        for _ in range(at % 8):
            value = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[value]
        check = _dihedral(check, value)
    return check == 0


def _dihedral(one: int, two: int) -> int:
    """The product in the dihedral group of ten elements."""
    turn = (one % 5 + two % 5) % 5 if one < 5 else (one % 5 - two % 5) % 5
    return turn + (5 if (one < 5) != (two < 5) else 0)


def _is_pesel(found: re.Match[str]) -> bool:
    """Poland: a weighted sum modulo 10."""
    number = [int(digit) for digit in found["secret"]]
    total = sum(digit * weight for digit, weight in zip(number[:10], cycle((1, 3, 7, 9)), strict=False))
    return -total % 10 == number[10]


def _is_steuer_id(found: re.Match[str]) -> bool:
    """Germany: ISO 7064 modulo 11, 10."""
    number = [int(digit) for digit in digits(found["secret"])]
    product = 10
    for digit in number[:10]:
        total = (digit + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == number[10]


def _is_bsn(found: re.Match[str]) -> bool:
    """The Netherlands: the eleven test."""
    number = [int(digit) for digit in found["secret"]]
    return sum(digit * weight for digit, weight in zip(number, (9, 8, 7, 6, 5, 4, 3, 2, -1), strict=True)) % 11 == 0


def _is_phone(found: re.Match[str]) -> bool:
    return 9 <= len(digits(found[0])) <= 15


def _is_address(found: re.Match[str]) -> bool:
    """True unless it is the user of a remote repository, as in git@host:path."""
    return found["user"].lower() not in ("git", "hg", "svn")


def _of(kind: str, expression: str, is_one: Callable[[re.Match[str]], bool] = bool) -> Pattern:
    return Pattern(kind, (), re.compile(rf"(?<![\w.+/-])(?:{expression})(?![\w])(?!\.\d)", re.ASCII), is_one)


def _named(
    kind: str, name: str, number: str, words: tuple[str, ...], is_one: Callable[[re.Match[str]], bool]
) -> Pattern:
    """A number that says nothing by itself, after its name."""
    expression = re.compile(rf"{name}\W{{1,5}}(?P<secret>{number})(?!\w)", re.ASCII | re.IGNORECASE)
    return Pattern(kind, words, expression, is_one)


PERSONAL = (
    Pattern(
        "email",
        ("@",),
        re.compile(
            rf"(?:(?<![\w.+%\\-])|{AFTER_ESCAPE})"
            r"(?P<user>[\w.+%-]{1,64})@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![\w-])",
            re.ASCII,
        ),
        _is_address,
    ),
    Pattern(
        "phone",
        ("+", "tel:"),
        re.compile(
            r"(?<![\w.+/)\]-])(?:(?<!\n)(?<!^)\+[1-9]\d{8,14}"
            r"|\+[1-9]\d{0,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d{1,5}(?:[ .-]\d{2,8}){1,5})(?![\w])(?![.:]\d)",
            re.ASCII,
        ),
        _is_phone,
    ),
    _of("phone", r"\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]\d{4}|(?:1[-.])?[2-9]\d{2}(?P<sep>[-.])[2-9]\d{2}(?P=sep)\d{4}"),
    _of("iban", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?", _is_iban),
    _of(
        "card-number",
        r"\d{4}(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{1,4}|3\d{3}[ -]\d{6}[ -]\d{4,5}|\d{13,15}",
        _is_card,
    ),
    _of("us-ssn", r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
    _of("uk-nino", r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D]"),
    _of("es-dni", r"(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]", _is_dni),
    _of("fr-nir", r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}", _is_nir),
    _of("it-codice-fiscale", r"[A-Z]{6}\d{2}[ABCDEHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", _is_codice),
    _of("br-cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", _is_cpf),
    _of("se-personnummer", r"(?:19|20)?\d{6}[-+]\d{4}", _is_personnummer),
    _of("fi-hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]", _is_hetu),
    _of("cn-id", r"[1-9]\d{5}(?:19|20)\d{9}[0-9Xx]", _is_chinese),
    _of("in-aadhaar", r"[2-9]\d{3} \d{4} \d{4}", _is_aadhaar),
    _named("pl-pesel", r"pesel", r"\d{11}", ("PESEL", "pesel", "Pesel"), _is_pesel),
    _named(
        "de-steuer-id",
        r"(?:steuer[\w-]{0,40}|idnr)",
        r"[1-9]\d(?: ?\d{3}){3}",
        ("teuer", "STEUER", "IdNr"),
        _is_steuer_id,
    ),
    _named("nl-bsn", r"bsn", r"\d{9}", ("BSN", "bsn"), _is_bsn),
)
