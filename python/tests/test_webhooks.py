import base64
import hashlib
import hmac

import pytest

from sms_quota import InvalidSignature, verify_webhook

KEY = b"a key for tests of thirty-two by"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER = "whsec_" + base64.b64encode(b"another").decode()
BODY = '{"type":"quota.expired","name":"Größe"}'.encode()
NOW = 1_800_000_000


def headers_of(body: bytes = BODY, key: bytes = KEY, at: int = NOW) -> dict[str, str]:
    digest = hmac.digest(key, f"d1.{at}.".encode() + body, hashlib.sha256)
    signature = f"v1,bm90IGl0 v1,{base64.b64encode(digest).decode()}"
    return {"Webhook-Id": "d1", "Webhook-Timestamp": str(at), "Webhook-Signature": signature}


def test_answers_the_event() -> None:
    event = verify_webhook(BODY, headers_of(), SECRET, now=NOW + 300)
    assert event == {"type": "quota.expired", "name": "Größe"}
    assert verify_webhook(BODY, headers_of(), OTHER, SECRET, now=NOW) == event


@pytest.mark.parametrize(
    "body, headers, secret, now, message",
    [
        (BODY, headers_of(), OTHER, NOW, "no signature"),
        (BODY + b" ", headers_of(), SECRET, NOW, "no signature"),
        (BODY, headers_of(), SECRET, NOW + 301, "too old"),
        (BODY, headers_of(at=NOW + 301), SECRET, NOW, "in the future"),
        (BODY, {}, SECRET, NOW, "missing"),
        (BODY, {**headers_of(), "Webhook-Timestamp": "x"}, SECRET, NOW, "malformed"),
        (BODY, headers_of(), "whsec_ä", NOW, "not base64"),
    ],
)
def test_refuses(body: bytes, headers: dict[str, str], secret: str, now: float, message: str) -> None:
    with pytest.raises(InvalidSignature, match=message):
        verify_webhook(body, headers, secret, now=now)
