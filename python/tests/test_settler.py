from typing import Any

import pytest

from sms_quota import UnavailableError
from sms_quota._settler import MAX_AT_ONCE, MAX_UNSETTLED, Settler


def result(status: int, code: str = "") -> Any:
    return {"status": status, "body": {"code": code}}


def test_there_is_room_for_so_many_and_no_more() -> None:
    settler = Settler(lambda: 0)
    for number in range(MAX_UNSETTLED):
        settler.assert_room()
        settler.add(7, str(number), "not-sent")
    with pytest.raises(UnavailableError, match="10000 messages") as unavailable:
        settler.assert_room()
    assert not unavailable.value.may_have_taken_effect
    assert len(settler.due()) == MAX_AT_ONCE
    assert settler.hurry() == MAX_UNSETTLED / MAX_AT_ONCE


@pytest.mark.parametrize(
    "answer, seconds", [(result(503, "unavailable"), 1), (result(429, "rate_limited"), 1), (result(403, "forbidden"), 60)]
)
def test_what_is_not_confirmed_is_tried_again(answer: Any, seconds: float) -> None:
    now = 0.0
    settler = Settler(lambda: now)
    settler.add(7, "m", "sent")
    assert settler.note(settler.due(), [answer]) == []
    now = seconds - 0.1
    assert list(settler.due()) == []
    now = seconds
    assert [step.operation for step in settler.due()] == ["commit"]


def test_only_what_has_expired_is_committed_by_force() -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "sent")
    steps = settler.note(settler.due(), [result(409, "reservation_closed")])
    assert [step.request() for step in steps] == [{"op": "commit", "user_id": 7, "id": "m", "force": True}]
    assert settler.note(steps, [result(200)]) == []
    assert settler.list() == []


def test_an_old_answer_settles_nothing_new() -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "sent")
    steps = settler.due()
    settler.add(7, "m", "not-sent")
    settler.note(steps, [result(200)])
    assert [message.outcome for message in settler.list()] == ["not-sent"]
