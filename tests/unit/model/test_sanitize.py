"""Text that others wrote is cleaned of what does not belong into an Event, and of nothing else."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.model.sanitize import MAX_INPUT_CHARACTERS, sanitize, truncate_bytes


JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nx/Y=\n-----END RSA PRIVATE KEY-----"

SECRETS = {
    "a bearer token": ("Authorization: Bearer abc.DEF-123~x", "abc.DEF"),
    "a bearer token alone": (f"bearer {JWT} expired", "eyJ"),
    "basic credentials": ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    "a SAS signature": ("blob?sv=2024&sig=aB%2Fc%3D&se=2030", "aB%2Fc"),
    "a SAS signature in a URL": ("GET https://x.blob/y?sv=2024&sig=aB%2Fc%3D failed", "aB%2Fc"),
    "a JWT": (f"token rejected: {JWT}", "eyJ"),
    "a private key": (f"bad key {PEM} in secret", "MIIE"),
    "a private key that is cut off": (PEM[:50], "MIIE"),
    "a password in JSON": ('{"user":"bob","password":"hunter2 x","n":1}', "hunter2"),
    "a password in escaped JSON": (r"{\"password\":\"hunter2\"}", "hunter2"),
    "a password in YAML": ("user: bob\npassword: hunter2\nport: 5432", "hunter2"),
    "a plain word as a password in YAML": ("password: swordfish\nuser: bob", "swordfish"),
    "a password in single quotes": ("password: 'correct horse battery'", "horse"),
    "a password in a query": ("?user=bob&password=hunter2&db=x", "hunter2"),
    "a password in a connection string": ("Server=db;Pwd=hunter2;Uid=bob", "hunter2"),
    "an account key": ("AccountName=x;AccountKey=aGVsbG8xMjM=;EndpointSuffix", "aGVsbG8"),
    "a client secret": ("client_secret=Ab~8Q_x", "Ab~8Q"),
    "an API key": ("X-Api-Key: 0123456789abcdef", "0123456"),
    "a token in YAML": ("hf_token: hf_AbCdEf012345", "hf_AbC"),
    "a key of AWS": ("with AKIAIOSFODNN7EXAMPLE denied", "AKIA"),
    "a key of OpenAI": ("invalid sk-proj-AbCdEf0123456789 given", "AbCdEf"),
    "a token of GitHub": ("push by ghp_0123456789abcdefghij refused", "ghp_0"),
    "credentials of a registry": ('{"auths":{"r.io":{"auth":"dXNlcjpwYXNz"}}}', "dXNlcjpwYXNz"),
    "credentials in a URL": ("postgres://bob:hunter2@db.example/x refused", "hunter2"),
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_removed(text, secret):
    assert secret in text
    assert secret not in sanitize(text)


def test_what_stands_around_a_secret_is_kept():
    assert sanitize("user: bob\npassword: hunter2\nport: 5432") == (
        "user: bob password: [removed] port: 5432"
    )
    assert sanitize('{"user":"bob","password":"hunter2","n":1}') == (
        '{"user":"bob","password":[removed],"n":1}'
    )


URLS = {
    "the link of a cloud error": (
        "Quota exceeded. Read more at https://aka.ms/quota?x=1. Request id 7",
        "Quota exceeded. Read more at Request id 7",
    ),
    "in parentheses": ("denied (see https://aka.ms/x) by policy", "denied (see ) by policy"),
    "in quotes": (
        'Get "https://10.0.0.1:443/api?timeout=5s": dial tcp 10.0.0.1:443: connection refused',
        'Get "": dial tcp 10.0.0.1:443: connection refused',
    ),
    "of an IPv6 address": ("dial https://[fd00::1]:6443/x failed", "dial failed"),
    "right behind a word": ("ошибкаhttps://x.example/y здесь", "ошибка здесь"),
    "right behind a digit": ("1https://x.example/y", "1"),
    "of another scheme": ("pull oci://registry/x failed", "pull failed"),
    "broken by a character nobody sees": ("at ht\u200btps://x.example/y now", "at now"),
    "in capitals": ("at HTTPS://X.EXAMPLE now", "at now"),
}


@pytest.mark.parametrize(("text", "cleaned"), URLS.values(), ids=URLS.keys())
def test_a_url_is_removed(text, cleaned):
    assert sanitize(text) == cleaned


SHAPES = {
    "ANSI colours": ("\x1b[31;1mfatal\x1b[0m: no", "fatal: no"),
    "a terminal's title": ("\x1b]0;owned\x07fatal", "fatal"),
    "newlines and tabs": ("a\r\n\tb\x00c\u2028d", "a b c d"),
    "bidi controls": ("\u202eevil\u2066x\u2069\u200f", "evilx"),
    "invisible tags": ("a\U000e0041\u00adb\ufeff", "ab"),
    "half a character": ("a\ud800b", "ab"),
    "an RFC 3339 time": ("at 2026-05-01T12:00:00.123456Z failed", "at failed"),
    "a time with an offset": ("2026-05-01 12:00:00,5 +02:00 failed", "failed"),
    "a time of Go's log": ("2026/05/01 12:00:00 panic", "panic"),
    "a time of klog": ("E0501 12:00:00.123456 1 main.go:7] panic", "1 main.go:7] panic"),
    "blanks and stops at the ends": ("  no.  ", "no"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("text", "cleaned"), SHAPES.values(), ids=SHAPES.keys())
def test_foreign_text_becomes_one_plain_line(text, cleaned):
    assert sanitize(text) == cleaned


INNOCENT = [
    'secret "llm-api-key" not found',
    'MountVolume.SetUp failed for volume "apikey-tls-secret" : secret "apikey-tls" not found',
    "couldn't find key apiKey in Secret team-a/llm-api-key",
    'secrets "regcred" is forbidden: User "system:serviceaccount:a:b" cannot get resource',
    "references non-existent secret key: tls.crt",
    "no basic auth credentials",
    "basic authentication required",
    "failed to fetch anonymous token: unexpected status 401 Unauthorized",
    'Back-off pulling image "ghcr.io/kaito/base:0.0.8@sha256:0123456789abcdef0123456789abcdef"',
    'Failed to pull image "mcr.microsoft.com/oss/secrets-store-csi-driver:v1.4.1": not found',
    'failed to resolve reference "docker.io/org/token-service:2024-05-01": not found',
    (
        "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint"
        " {node.kubernetes.io/unreachable: }. preemption: 0/3 nodes are available"
    ),
    'pods "x-1" is forbidden: exceeded quota: compute, requested: cpu=2, used: cpu=8, limited: 8',
    'admission webhook "validate.kaito.sh" denied the request: spec.replicas: must be >= 0',
    "rpc error: code = Unknown desc = failed to pull and unpack image",
    "Error loading tokenizer: meta-llama/Llama-3 with max_num_batched_tokens=2048",
    "x509: certificate signed by unknown authority",
    "Readiness probe failed: HTTP probe failed with statuscode: 503",
    "kserve-sk-learn-runtime-0 не готов",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_survives(text):
    assert sanitize(text) == text


@given(st.text(st.characters(), max_size=300))
def test_any_text_becomes_one_printable_line(text):
    cleaned = sanitize(text)
    assert "://" not in cleaned
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert cleaned == cleaned.strip()
    cleaned.encode()


@given(st.text(string.ascii_letters + string.digits, min_size=16, max_size=80))
def test_a_password_in_any_syntax_is_removed(password):
    texts = (
        f'{{"password":"{password}"}}',
        f"password={password}",
        f"db-password: {password}1",
        f"https://u:{password}@host/x",
        f"Bearer {password}1",
    )
    assert all(password not in sanitize(text) for text in texts)


@pytest.mark.parametrize("part", ["a", "token", 'password="', "a@", "http:/", "\x1b]", "1234-"])
def test_what_is_cleaned_is_bounded_however_long_the_text_is(part):
    """A text that was made to be slow costs no more than its first characters."""
    read = (part * MAX_INPUT_CHARACTERS)[:MAX_INPUT_CHARACTERS]
    assert sanitize(f"{read} and 'more'\" which is never read" * 12) == sanitize(read)


@pytest.mark.parametrize("character", ["x", "é", "中", "😀"])
@pytest.mark.parametrize("limit", range(12))
def test_text_is_cut_between_characters_with_an_ellipsis(character, limit):
    short = truncate_bytes(character * 10, limit)
    assert len(short.encode()) <= limit
    assert set(short) <= {character, "…"}
    assert short.endswith("…") or limit < 3 or len(character.encode()) * 10 <= limit


def test_what_fits_is_not_cut():
    assert truncate_bytes("жёлтый", len("жёлтый".encode())) == "жёлтый"


def test_what_no_terminal_shows_is_left_out():
    assert sanitize("Quota\ud7fc exceeded\U000f0000\u00a0now") == "Quota exceeded now"
