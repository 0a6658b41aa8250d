import pytest

from reporter.kube.plain_text import MAX_LENGTH, clean, clean_tail
from tests.unit.model.test_sanitize import SECRETS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [removed]"),
        ("Basic dXNlcjpwYXNz failed", "Basic [removed] failed"),
        ("token eyJhbGciOiJSUzI1.eyJpc3MiOiJr.c2ln wrong", "token [removed] wrong"),
        ('{"token": "s3cr3t", "x": 1}', '{"token": [removed], "x": 1}'),
        ("password=hunter2 rest", "password=[removed] rest"),
        ("https://a/b?sv=1&sig=AbC%3D&x=2", "https://a/b?sv=1&sig=[removed]&x=2"),
        (
            "proxy http://me:secret@proxy:3128 is down",
            "proxy http://[removed]@proxy:3128 is down",
        ),
    ],
)
def test_secrets_do_not_pass(text, expected):
    assert clean(text) == expected


def test_text_becomes_one_line_without_control_characters():
    assert clean("a\r\n\tb\x00\x1bc\u202ed") == "a b c d"


def test_an_html_page_is_reduced_to_its_title():
    assert clean("<html><title>502 Bad &amp; ugly</title><body>x</body>") == "502 Bad & ugly"


def test_an_html_page_without_title_is_reduced_to_its_text():
    page = "<body><script>var x = '<h1>';</script><h1>Sign   in</h1><p>please</p></body>"
    assert clean(page) == "Sign in please"


def test_angle_brackets_of_go_are_no_markup():
    assert clean("expected <nil>, got <none>") == "expected <nil>, got <none>"


def test_a_long_text_is_cut_at_its_end():
    shown = clean("ä" * 5_000)
    assert len(shown) == MAX_LENGTH
    assert shown.endswith("…")


def test_of_a_long_complaint_the_end_is_kept():
    shown = clean_tail("x" * 400_000 + " the reason")
    assert len(shown) == MAX_LENGTH
    assert shown.endswith(" the reason")


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS.keys())
def test_what_is_redacted_in_events_is_redacted_in_logs(text, secret):
    assert secret in text
    assert secret not in clean(text)
    assert secret not in clean_tail(text)
