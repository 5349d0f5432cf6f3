"""The client of sms-quota: ask before each SMS, and settle after it."""

from ._api import Check, Denied, Draw, Granted, Message, Operation, Result, Settled
from ._async_client import AsyncQuotaClient
from ._client import QuotaClient
from ._errors import QuotaError, UnavailableError, UnknownIfSent
from ._types import Sent, Unsettled
from ._webhooks import InvalidSignature, verify_webhook

__all__ = [
    "AsyncQuotaClient",
    "Check",
    "Denied",
    "Draw",
    "Granted",
    "InvalidSignature",
    "Message",
    "Operation",
    "QuotaClient",
    "QuotaError",
    "Result",
    "Sent",
    "Settled",
    "UnavailableError",
    "UnknownIfSent",
    "Unsettled",
    "verify_webhook",
]
