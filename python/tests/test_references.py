"""Users that calls name by reference."""

from typing import Any, Callable

import pytest

from sms_quota import QuotaError, UnavailableError

from .conftest import Service
from .network import Network
from .test_reservations import SHORT, fail, never, send

Connect = Callable[..., Any]


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def quota(connect: Connect, service: Service, network: Network) -> Any:
    return connect(service.url, service.sender, network)


def test_each_call_takes_one_and_answers_both_names(quota: Any, service: Service) -> None:
    user = service.user(10)
    name = {"user_ref": service.reference(user)}
    answers = [
        quota.check(**name, units=1),
        quota.check(**name, units=11),
        quota.reserve(**name, id="m", units=3),
        quota.commit(**name, id="m", total_units=2),
        quota.release(**name, id="m"),
        quota.refund(**name, id="m", total_units=1),
        quota.consume(**name, id="n", units=2),
        *[result["body"] for result in quota.batch([{"op": "reserve", **name, "id": "o", "units": 1}])],
    ]
    assert [(answer["user_id"], answer["user_ref"]) for answer in answers] == [(user, name["user_ref"])] * 8
    assert service.counted(user) == (3, 1)
    assert [item["id"] for item in quota.list_reservations(**name)] == ["o"]
    with pytest.raises(QuotaError) as refused:
        quota.check(user_ref="no-user", units=1)
    assert refused.value.code == "unknown_user"


@pytest.mark.parametrize("names", [{}, {"user_id": 7, "user_ref": "K-7"}])
def test_a_call_with_no_name_or_both_is_an_error_at_once(quota: Any, network: Network, names: Any) -> None:
    network.away = {"check", "reserve", "consume", "commit", "release", "refund"}
    calls: list[Callable[[], Any]] = [
        lambda: quota.check(**names, units=1),
        lambda: quota.reserve(**names, id="m", units=1),
        lambda: quota.consume(**names, id="m", units=1),
        lambda: quota.commit(**names, id="m"),
        lambda: quota.release(**names, id="m"),
        lambda: quota.refund(**names, id="m"),
        lambda: quota.with_reservation(never, **names, id="m", units=1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="user_id or user_ref"):
            call()
    assert network.missed == 0


def test_lost_answers_are_no_repetitions_and_what_is_sent_is_charged(
    quota: Any, service: Service, network: Network
) -> None:
    user = service.user(10)
    name = {"user_ref": service.reference(user)}
    network.losses = 1
    assert quota.consume(**name, id="m", units=1)["replayed"] is False
    assert quota.consume(**name, id="m", units=1)["replayed"]
    assert quota.with_reservation(send, **name, id="n", units=2).sent is True
    assert quota.with_reservation(never, **name, id="n", units=2).sent == "before"
    network.away = {"reserve"}
    # The service cannot tell, but this client knows.
    assert quota.with_reservation(never, **name, id="n", units=2, timeout=SHORT).sent == "before"
    assert service.counted(user) == (3, 0)


def test_what_the_service_has_not_confirmed_is_settled(quota: Any, service: Service, network: Network) -> None:
    user = service.user(10)
    name = {"user_ref": service.reference(user)}
    network.deaf = {"commit"}
    with pytest.raises(UnavailableError):
        quota.with_reservation(never, **name, id="lost", units=2, timeout=SHORT)
    network.deaf, network.away = set(), {"refund", "batch"}
    with pytest.raises(ConnectionError, match="no route"):
        quota.with_reservation(fail, **name, id="failed", units=2)
    with pytest.raises(UnavailableError, match="are being given back"):
        quota.with_reservation(never, **name, id="failed", units=2)
    network.away = {"commit", "batch"}
    late = quota.with_reservation(send, **name, id="late", units=3, on_expiry="release")
    assert (late.sent, late.settled) == (True, None)
    unsettled = [(one.user_id, one.user_ref, one.id, one.outcome) for one in quota.unsettled()]
    ref = name["user_ref"]
    assert unsettled == [(user, ref, "lost", "not-sent"), (user, ref, "failed", "not-sent"), (user, ref, "late", "sent")]
    network.away = set()
    quota.close()
    assert service.counted(user) == (3, 0)
