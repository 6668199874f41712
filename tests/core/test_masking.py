"""Secrets are masked in plain text and in JSON text, and ordinary text is left alone."""

import json
import time
import timeit

import pytest

from inspector.core.masking import mask, mask_bytes

# Each is put together here, so that no file of this project holds anything that looks like a real key.
SECRETS = {
    "anthropic": "sk-" + "ant-api03-" + "Ab1_" * 10,
    "openai": "sk-" + "proj-" + "Zz9" * 12,
    "aws": "AK" + "IA" + "Q3EGRZ7XNVPB2LKM",
    "github": "gh" + "p_" + "a1B2c3D4" * 5,
    "slack": "xo" + "xb-" + "1234567890-abcdef",
    "google": "AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "stripe": "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}


@pytest.mark.parametrize("name", SECRETS)
def test_known_shapes_are_masked(name):
    secret = SECRETS[name]
    shown = mask(f"export it: {secret} and go on")
    assert secret not in shown
    assert shown.startswith("export it: [masked ") and shown.endswith(" and go on")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"password": "hunter22"}', "hunter22"),
        ("db_password='correct-horse'", "correct-horse"),
        ("DB_PASSWORD=hunter22 ./run", "hunter22"),
        ("postgres://app:s3cr3t-word@db.example/app", "s3cr3t-word"),
        ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
        ("api_key: 9f8e7d6c5b4a39281706f5e4", "9f8e7d6c5b4a39281706f5e4"),
        ("client_secret => 'qwertz-asdfgh'", "qwertz-asdfgh"),
    ],
)
def test_named_values_are_masked_and_their_names_stay(text, secret):
    shown = mask(text)
    assert secret not in shown
    assert shown.partition("[masked")[0] == text.partition(secret)[0]


def test_a_private_key_is_masked_whole_also_when_it_is_cut_off():
    begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
    body = "\nMIIEowIBAAKCAQEA\nabc\n"
    assert mask(f"x {begin}{body}{end} y") == "x [masked private key] y"
    assert "MIIE" not in mask(f"x {begin}{body}")


def test_masked_json_is_json_with_everything_else_unchanged():
    inner = json.dumps({"password": "hunter22"})
    row = {"type": "user", "uuid": "u1", "message": {"content": f"run with {inner} and {SECRETS['github']}"}, "n": 1}
    for text in (json.dumps(row), json.dumps(row, ensure_ascii=False)):
        shown = json.loads(mask(text))
        assert "hunter22" not in str(shown) and SECRETS["github"] not in str(shown)
        assert {key: value for key, value in shown.items() if key != "message"} == {key: value for key, value in row.items() if key != "message"}


@pytest.mark.parametrize(
    "text",
    [
        "the token was refreshed; token = next_token(stream)",
        '{"usage":{"input_tokens":123456789012,"cache_read_input_tokens":0},"parentUuid":"11111111-2222-4333-8444-555555555555"}',
        "def password(self): return self._password",
        "see https://example.org/path:8080/x@y and the key idea of it",
        "toolu_01abcdefabcdefabcdefabcd req_011abcdefabcdefabcdefab",
        "risk-assessment-of-everything-we-do",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert mask(text) == text


def test_bytes_that_are_no_utf8_survive():
    data = b"\xff\xfe password='hunter22' \x80"
    assert mask_bytes(data) == b"\xff\xfe password='[masked secret]' \x80"


@pytest.mark.parametrize("unit", ["a", "token=", "eyJaaaaaaaa-", "password ", "-----BEGIN A", "sk-", "SG.aaaaaaaaaaaaaaaa-", "a://b:", "Basic "])
def test_time_stays_linear_in_hostile_text(unit):
    def seconds(size):
        text = unit * (size // len(unit))
        return min(timeit.repeat(lambda: mask(text), number=1, repeat=3, timer=time.process_time))  # not the wall clock: other tests run beside

    small, large = seconds(20_000), seconds(160_000)
    assert large < 0.05 or large < 24 * small


@pytest.mark.parametrize("before", ["\n", "\t", "\x1b", "key\r\n"])
@pytest.mark.parametrize("secret", [SECRETS["anthropic"], SECRETS["aws"], SECRETS["github"]])
def test_a_secret_behind_a_line_end_is_found_in_json_too(before: str, secret: str) -> None:
    text = f"see{before}{secret}"
    for stored in (text, json.dumps(text), json.dumps(json.dumps(text))):
        assert secret not in mask(stored)
