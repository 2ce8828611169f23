"""What secrets look like: their kinds, each with the words that stand in every one of them and a pattern.

The forms of keys are those that their issuers document, and that GitHub's secret scanning and gitleaks
(config/gitleaks.toml, MIT) know. A pattern is tried only if one of its words is in the text. Each begins where no
character of its own kind stands before it, so that it is tried once for a run of such characters: the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from skills.lib.record import Record

_FLAGS = re.ASCII
# A line of a text in JSON begins after one of these.
AFTER_ESCAPE = r"(?<=\\[nrt])"
BEGIN = rf"(?:(?<!\w)|{AFTER_ESCAPE})"


class Pattern(Record):
    """A kind of secret. The group ``secret`` of a match is what is redacted, or all of it without such a group."""

    kind: str
    words: tuple[str, ...]
    expression: re.Pattern[str]
    is_one: Callable[[re.Match[str]], bool] = bool


def _key(kind: str, expression: str, *words: str, before: str = r"\w-") -> Pattern:
    """A key by itself: neither letters, digits, underscores nor hyphens stand around it."""
    begin = rf"(?:(?<![{before}])|{AFTER_ESCAPE})"
    return Pattern(kind, words, re.compile(rf"{begin}(?:{expression})(?![\w])", _FLAGS))


# Whole, or cut off after lines of it (which may have numbers before them); a mere mention of the first line is no key.
_PEM = (
    r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:(?!-----)[\s\S]){16,40000}-----END (?P=label)-----"
    r"|(?:(?:\s|\\[nr]|\d{1,9}\t){1,40}[A-Za-z0-9+/=]{16,}){1,2000})"
)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_BASE64 = r"[A-Za-z0-9+/]"

KEYS = (
    Pattern("private-key", ("PRIVATE KEY",), re.compile(_PEM, _FLAGS)),
    _key("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "AGE-SECRET-KEY-1"),
    _key("airtable-token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat"),
    _key("anthropic-key", r"sk-ant-[\w-]{16,}", "sk-ant-"),
    _key("asana-token", r"[12]/\d{13,19}(?:/\d{13,19})?:[0-9a-f]{32}", "1/", "2/"),
    _key("atlassian-token", r"AT(?:ATT|CTT|BB)[\w=-]{20,}", "ATATT", "ATCTT", "ATBB"),
    _key("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _key("azure-client-secret", r"[\w~.]{3}\dQ~[\w~.-]{31,34}", "Q~", before=r"\w~.-"),
    Pattern("azure-storage-key", ("AccountKey=",), re.compile(rf"AccountKey=(?P<secret>{_BASE64}{{40,90}}={{0,2}})")),
    Pattern("azure-signature", ("sig=",), re.compile(r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/]{30,}={0,2})")),
    _key("databricks-token", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi"),
    _key("digitalocean-token", r"do[opr]_v1_[0-9a-f]{64}", "_v1_"),
    _key("discord-token", r"[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{27,40}", ".", before=r"\w.-"),
    Pattern(
        "discord-webhook",
        ("discord",),
        re.compile(r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{5,25}/[\w-]{20,})", _FLAGS),
    ),
    _key("docker-token", r"dckr_[op]at_[\w-]{20,}", "dckr_"),
    _key("doppler-token", r"dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{40,}", "dp."),
    _key("figma-token", r"fig[dou]r?_[\w-]{30,}", "fig"),
    _key("fly-token", r"fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}", "fo1_", "fm1", "fm2"),
    _key("github-token", r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{22,255}", "gh", "github_pat_"),
    _key("gitlab-token", r"gl(?:pat|dt|rt|ptt|ft|imt|agent|oas|soat|cbt|ffct|wt)-[\w.-]{20,}", "gl"),
    _key("google-api-key", r"AIza[\w-]{35}", "AIza"),
    _key("google-client-secret", r"GOCSPX-[\w-]{20,}", "GOCSPX-"),
    _key("google-oauth-token", r"ya29\.[\w-]{20,}|1//0[\w-]{30,}", "ya29.", "1//0"),
    _key("grafana-token", r"glsa_\w{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,3}", "glsa_", "glc_"),
    _key("groq-key", r"gsk_[A-Za-z0-9]{40,}", "gsk_"),
    _key("heroku-key", r"HRKU-[\w-]{36,}", "HRKU-"),
    _key("huggingface-token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", "hf_", "api_org_"),
    _key("jwt", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?", "eyJ", before=r"\w.-"),
    _key("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "lin_"),
    _key("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}", "-us"),
    _key("mailgun-key", r"key-[0-9a-f]{32}", "key-"),
    _key("newrelic-key", r"NR(?:AK|II|JS)-[A-Za-z0-9-]{20,}", "NRAK-", "NRII-", "NRJS-"),
    _key("notion-token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}", "ntn_", "secret_"),
    _key("npm-token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _key("nuget-key", r"oy2[a-z0-9]{43}", "oy2"),
    _key("openai-key", r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{16,}|[A-Za-z0-9]{20,})", "sk-"),
    _key("perplexity-key", r"pplx-[A-Za-z0-9]{40,}", "pplx-"),
    _key("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-"),
    _key("pulumi-token", r"pul-[0-9a-f]{40}", "pul-"),
    _key("pypi-token", r"pypi-AgE[\w-]{20,}", "pypi-AgE"),
    _key("replicate-token", r"r8_[A-Za-z0-9]{37}", "r8_"),
    _key("rubygems-key", r"rubygems_[0-9a-f]{48}", "rubygems_"),
    _key("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "SG."),
    _key("sentry-token", r"sntry[su]_[\w+/=]{20,}", "sntry"),
    _key("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shp"),
    _key("slack-token", r"xox[abceoprs](?:\.xox[bp])?-[\w-]{10,}|xapp-\d-[\w-]{10,}", "xox", "xapp-"),
    Pattern(
        "slack-webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/+]{20,})", _FLAGS),
    ),
    _key("square-token", r"sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w-]{60}", "sq0", "EAAA"),
    _key("stripe-key", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", "k_live_", "k_test_", "k_prod_"),
    _key("stripe-webhook-secret", r"whsec_[A-Za-z0-9+/=]{20,}", "whsec_"),
    _key("supabase-key", r"sb_secret_[\w-]{20,}|sbp_[0-9a-f]{40}", "sb_secret_", "sbp_"),
    _key("telegram-token", r"\d{8,10}:AA[\w-]{32,35}", ":AA"),
    _key("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}", ".atlasv1."),
    _key("twilio-key", r"SK[0-9a-f]{32}", "SK"),
    _key("vault-token", r"hv[bs]\.[\w-]{24,}", "hvs.", "hvb."),
    _key("xai-key", r"xai-[A-Za-z0-9]{60,}", "xai-"),
)

# A line of such a key by itself, as a search shows it: base64 in 64 characters (RFC 7468), or 70 (OpenSSH).
KEY_LINE = Pattern(
    "key-line",
    (),
    re.compile(rf"(?m)(?<![\w+/=])(?:{_BASE64}{{70}}|{_BASE64}{{64}})(?=[ \t\r]*$|\\[nr]|\")", _FLAGS),
    lambda found: not _HEX.fullmatch(found[0]) and any(map(str.isdigit, found[0])) and found[0].lower() != found[0],
)

# In a URL, a header or a command: the name before it says that it is one.
IN_PLACE = (
    Pattern(
        "url-password",
        ("://",),
        re.compile(r"(?<=://)[^\s/?#\"'<>@:]{0,200}:(?P<secret>[^\s/?#\"'<>@\[${][^\s/?#\"'<>@]{0,400})@"),
    ),
    Pattern(
        "authorization",
        ("authorization", "Authorization", "AUTHORIZATION"),
        re.compile(
            BEGIN + r"authorization[\"']?[ \t]{0,9}[:=][ \t]{0,9}[\"']?"
            r"(?:(?:basic|bearer|token|apikey|digest|negotiate|aws4-hmac-sha256)[ \t]{1,9})?"
            r"(?P<secret>[A-Za-z0-9+/_.~=-]{8,}[^\s\"']{0,400})",
            re.ASCII | re.IGNORECASE,
        ),
        lambda found: any(char.isdigit() for char in found["secret"]),
    ),
    Pattern(
        "bearer-token",
        ("earer ", "EARER "),
        re.compile(BEGIN + r"bearer[ \t]{1,9}(?P<secret>[A-Za-z0-9+/_.~-]{16,}={0,2})", re.ASCII | re.IGNORECASE),
        lambda found: any(char.isdigit() for char in found["secret"]),
    ),
    Pattern(
        "cookie",
        ("ookie:", "OOKIE:"),
        re.compile(
            BEGIN + r"(?:set-)?cookie:[ \t]{0,9}[\w.-]{1,80}=(?P<secret>[^\s;\"']{8,4000})",
            re.ASCII | re.IGNORECASE,
        ),
    ),
)
