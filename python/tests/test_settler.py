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


def test_what_no_user_of_a_reference_has_is_settled() -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "not-sent", user_ref="K-7")
    steps = settler.due()
    assert [step.request() for step in steps] == [{"op": "release", "user_ref": "K-7", "id": "m"}]
    settler.note(steps, [result(404, "unknown_user")])
    assert settler.list() == []


def test_an_old_answer_settles_nothing_new() -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "not-sent")
    steps = settler.due()
    settler.add(7, "m", "sent")
    settler.note(steps, [result(404, "not_found")])
    assert [message.outcome for message in settler.list()] == ["sent"]


def released(committed: int) -> Any:
    return {"status": 200, "body": {"committed": committed}}


def found(made_by: str, settled_by: str, *actions: str) -> Any:
    return {
        "status": 200,
        "body": {"made_by": made_by, "settled_by": settled_by, "actions": [{"action": action} for action in actions]},
    }


@pytest.mark.parametrize(
    "known, answers, operations",
    [
        ({}, [released(0)], ["release"]),
        ({}, [released(3), found("a", "a")], ["release", "find", "refund"]),
        ({}, [result(409, "reservation_closed"), found("a", "a")], ["release", "find", "refund"]),
        ({"may_be_committed": False}, [released(3)], ["release"]),
        ({}, [released(3), found("a", "a", "force")], ["release", "find"]),
        ({"is_maker": True}, [released(3), found("a", "b")], ["release", "find"]),
        ({}, [released(3), found("a", "b")], ["release", "find", "refund"]),
        ({}, [released(3), result(404, "not_found")], ["release", "find"]),
    ],
)
def test_what_another_has_sent_is_not_refunded(known: Any, answers: list[Any], operations: list[str]) -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "not-sent", **known)
    made = []
    steps = settler.due()
    for answer in [*answers, result(200)]:
        made += [step.operation for step in steps]
        steps = settler.note(steps, [answer]) if steps else []
    assert made == operations
    assert settler.list() == []


def test_of_two_sends_the_one_that_failed_gives_nothing_back() -> None:
    settler = Settler(lambda: 0)
    settler.add(7, "m", "sent")
    settler.add(7, "m", "not-sent", may_be_committed=False)
    assert [step.operation for step in settler.due()] == ["commit"]
