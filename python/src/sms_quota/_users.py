"""How calls name the user of a message: by id, or by the reference that another system gave."""

from typing import Any, Mapping
from urllib.parse import quote

Json = Mapping[str, Any]

#: A user as ASCII, for a hash and a path: the id, or `ref:` and the reference, percent-encoded.
UserKey = int | str


def one_user(user_id: int | None, user_ref: str | None) -> Json:
    """What names the user in a call. Raises ValueError unless exactly one of them is given."""
    if (user_id is None) == (user_ref is None):
        raise ValueError("the user of a message has one name: give user_id or user_ref")
    return {"user_id": user_id} if user_ref is None else {"user_ref": user_ref}


def user_of(message: Json) -> Json:
    """What names the user in further calls, as the caller named it: an answer to a call by reference has both."""
    user_ref = message.get("user_ref")
    return {"user_id": message["user_id"]} if user_ref is None else {"user_ref": user_ref}


def key_of(message: Json) -> UserKey | None:
    """None for what names no user: the service refuses it. Raises ValueError for half a character, which no reference has."""
    user_id, user_ref = message.get("user_id"), message.get("user_ref")
    if isinstance(user_ref, str):
        # It leaves what encodeURIComponent of JavaScript does, so that every client finds the same process.
        return "ref:" + quote(user_ref, safe="!'()*")
    return user_id if isinstance(user_id, int) and not isinstance(user_id, bool) else None


def message_key(message: Json) -> str:
    """Tells messages apart, whose ids have no blank. A user that is named in both ways is two of them here."""
    id, user_id, user_ref = (message.get(name) for name in ("id", "user_id", "user_ref"))
    return f"{id} {user_id}" if user_ref is None else f"{id} ref:{user_ref}"
