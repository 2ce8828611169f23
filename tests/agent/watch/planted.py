"""One made-up secret of each kind, and made-up personal data: what must be found, and what must not be left of it."""

from __future__ import annotations

import base64

HEX = "0123456789abcdef"
MIXED = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW"


def _jwt() -> str:
    parts = (b'{"alg":"HS256"}', b'{"sub":"1234567890"}', b"a signature of it")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _pem(label: str) -> str:
    body = "\n".join(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{at:04}" + MIXED[:28] for at in range(6))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


# Of each kind: a text that has such a secret, and the part of it that is secret. The prefixes stand apart from what
# follows, so that no scanner of repositories takes this file for a leak.
SECRETS: dict[str, tuple[str, str]] = {
    kind: (text.format(secret), secret)
    for kind, text, secret in [
        ("airtable-token", "{}", "pat" + MIXED[:14] + "." + HEX * 4),
        ("anthropic-key", "key: {}", "sk-ant-" + "api03-" + MIXED),
        ("atlassian-token", "{}", "ATATT" + "3xFfGF0" + MIXED),
        ("authorization", "Authorization: Basic {}", "dXNlcjpodW50ZXIy" + "OTk5"),
        ("aws-access-key", "aws configure set id {}", "AKIA" + "IOSFODNN7EXAMPLE"),
        ("azure-client-secret", "{}", "abC8" + "Q~" + MIXED + "xy"),
        ("azure-signature", "https://x.blob.example/f?sv=1&sig={}", "Zm9vYmFy" + MIXED + "%3D"),
        ("azure-storage-key", "AccountName=a;AccountKey={};", MIXED * 2 + MIXED[:22] + "=="),
        ("bearer-token", "curl -H 'X: Bearer {}'", MIXED),
        ("cookie", "Set-Cookie: session={}; Path=/", "s%3A" + MIXED),
        ("databricks-token", "{}", "dapi" + HEX * 2),
        ("digitalocean-token", "{}", "dop_v1_" + HEX * 4),
        ("discord-token", "{}", "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"),
        ("discord-webhook", "https://discord.com/api/webhooks/{}", "123456789012345678/" + MIXED),
        ("docker-token", "{}", "dckr_pat_" + MIXED[:27]),
        ("doppler-token", "{}", "dp.pt." + MIXED + MIXED[:12]),
        ("figma-token", "{}", "figd_" + MIXED + "12345678"),
        ("github-token", "remote: {}", "ghp_" + MIXED + "1234"),
        ("gitlab-token", "{}", "glpat-" + MIXED[:20]),
        ("google-api-key", "{}", "AIza" + "Sy" + MIXED + "x"),
        ("google-client-secret", "{}", "GOCSPX-" + MIXED[:28]),
        ("google-oauth-token", "{}", "ya29." + MIXED),
        ("grafana-token", "{}", "glsa_" + MIXED + "_" + "deadbeef"),
        ("groq-key", "{}", "gsk_" + MIXED + MIXED[:20]),
        ("heroku-key", "{}", "HRKU-" + "01234567-89ab-cdef-0123-456789abcdef"),
        ("huggingface-token", "{}", "hf_" + MIXED + "ab"),
        ("jwt", "id {}", _jwt()),
        ("linear-key", "{}", "lin_api_" + MIXED + "12345678"),
        ("mailchimp-key", "{}", HEX * 2 + "-us12"),
        ("mailgun-key", "{}", "key-" + HEX * 2),
        ("newrelic-key", "{}", "NRAK-" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ1"),
        ("notion-token", "{}", "ntn_" + MIXED + MIXED[:14]),
        ("npm-token", "//registry/:_auth {}", "npm_" + MIXED + "1234"),
        ("nuget-key", "{}", "oy2" + (HEX * 3)[:43]),
        ("openai-key", "{}", "sk-proj-" + MIXED),
        ("perplexity-key", "{}", "pplx-" + MIXED + MIXED[:16]),
        ("postman-key", "{}", "PMAK-" + (HEX * 2)[:24] + "-" + (HEX * 3)[:34]),
        ("private-key", "{}", _pem("RSA PRIVATE " + "KEY")),
        ("pulumi-token", "{}", "pul-" + (HEX * 3)[:40]),
        ("pypi-token", "{}", "pypi-" + "AgEIcHlwaS5vcmc" + MIXED),
        ("replicate-token", "{}", "r8_" + MIXED + "12345"),
        ("rubygems-key", "{}", "rubygems_" + HEX * 3),
        ("secret", "DB_PASSWORD={}", "correct-horse-9"),
        ("sendgrid-key", "{}", "SG." + MIXED[:22] + "." + MIXED + MIXED[:11]),
        ("sentry-token", "{}", "sntrys_" + MIXED),
        ("shopify-token", "{}", "shpat_" + HEX * 2),
        ("slack-token", "{}", "xoxb-" + "123456789012-" + MIXED[:24]),
        ("slack-webhook", "https://hooks.slack.com/services/{}", "T00000000/B00000000/" + MIXED[:24]),
        ("square-token", "{}", "sq0atp-" + MIXED[:22]),
        ("stripe-key", "{}", "sk_live_" + MIXED[:24]),
        ("stripe-webhook-secret", "{}", "whsec_" + MIXED),
        ("supabase-key", "{}", "sbp_" + (HEX * 3)[:40]),
        ("telegram-token", "{}", "110201543" + ":AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"),
        ("terraform-token", "{}", MIXED[:14] + ".atlasv1." + MIXED * 2),
        ("twilio-key", "{}", "SK" + HEX * 2),
        ("url-password", "postgres://app:{}@db.internal:5432/app", "s3cr3t.pw"),
        ("vault-token", "{}", "hvs." + MIXED),
        ("xai-key", "{}", "xai-" + MIXED * 2),
    ]
}
PERSONAL: dict[str, list[str]] = {
    "email": ["jane.doe@example.com", "j+x@mail.example.co.uk"],
    "phone": ["+49 30 1234567", "+1-202-555-0143", "(202) 555-0143", "202-555-0143"],
    "iban": ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"],
    "card-number": ["4111 1111 1111 1111", "5555555555554444", "3782 822463 10005"],
    "us-ssn": ["123-45-6789"],
    "uk-nino": ["AB123456C"],
    "es-dni": ["12345678Z", "X1234567L"],
    "fr-nir": ["2 55 08 14 168 025 38"],
    "it-codice-fiscale": ["RSSMRA85T10A562S"],
    "br-cpf": ["529.982.247-25"],
    "se-personnummer": ["811218-9876"],
    "fi-hetu": ["131052-308T"],
    "cn-id": ["11010519491231002X"],
    "in-aadhaar": ["2341 2341 2346"],
    "pl-pesel": ["PESEL: 44051401359"],
    "de-steuer-id": ["Steuer-ID 86095742719"],
    "nl-bsn": ["BSN 111222333"],
}
