"""Verification of webhooks, for receivers."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Mapping


class InvalidSignature(Exception):
    """The request is not from the service, was changed, or is too old."""


def verify_webhook(
    body: bytes, headers: Mapping[str, str], *secrets: str, tolerance: float = 300, now: float | None = None
) -> dict[str, Any]:
    """
    The event of a webhook request.

    :param body: as it arrived
    :param headers: their names in any case
    :param secrets: of the webhook, `whsec_…`; during a rotation the new one and the one before
    :param tolerance: how many seconds old, or ahead, its time may be
    :raises InvalidSignature:
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        webhook_id, timestamp, signatures = (
            found[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
        sent_at = int(timestamp)
    except (KeyError, ValueError):
        raise InvalidSignature("webhook-id, webhook-timestamp or webhook-signature is missing or malformed") from None
    if abs((time.time() if now is None else now) - sent_at) > tolerance:
        raise InvalidSignature("webhook-timestamp is too old, or in the future")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    if not any(_fits(signatures, secret, signed) for secret in secrets):
        raise InvalidSignature("no signature of the delivery is made with the secret")
    event = json.loads(body)
    if not isinstance(event, dict):
        raise InvalidSignature("the body is no event")
    return event


def _fits(signatures: str, secret: str, signed: bytes) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        raise InvalidSignature("a secret is not base64") from None
    expected = f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
    # Takes the same time for each signature.
    return any([hmac.compare_digest(expected.encode(), given.encode()) for given in signatures.split(" ")])
