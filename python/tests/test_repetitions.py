"""`replayed` says whether the caller has asked before: lost answers, which the client asks for again, do not count."""

from typing import Any, Callable

import pytest

from sms_quota import QuotaClient

from .conftest import Service
from .network import Network

Connect = Callable[..., Any]


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def quota(connect: Connect, service: Service, network: Network) -> Any:
    return connect(service.url, service.sender, network)


class TestACallWhoseAnswerWasLostIsNoRepetition:
    @pytest.mark.parametrize("operation", ["reserve", "consume"])
    def test_of_units(self, quota: Any, service: Service, network: Network, operation: str) -> None:
        def replayed(losses: int) -> Any:
            network.losses = losses
            return getattr(quota, operation)(user_id=user, id="m", units=1)["replayed"]

        user = service.user(5)
        assert [replayed(2), replayed(0), replayed(1)] == [False, True, True]

    def test_of_settlements(self, quota: Any, service: Service, network: Network) -> None:
        def replayed(operation: str, losses: int, **options: int) -> Any:
            network.losses = losses
            return getattr(quota, operation)(user_id=user, id="m", **options)["replayed"]

        user = service.user(5)
        quota.reserve(user_id=user, id="m", units=3)
        for operation in ("commit", "refund"):
            assert [replayed(operation, 1, total_units=2), replayed(operation, 0, total_units=2)] == [False, True]
        assert replayed("release", 1) is False

    def test_in_a_batch(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(5)
        quota.reserve(user_id=user, id="a", units=1)
        network.losses = 1
        results = quota.batch([{"op": "reserve", "user_id": user, "id": id, "units": 1} for id in ("a", "b")])
        assert [result["body"]["replayed"] for result in results] == [True, False]

    def test_after_a_denial_and_a_refusal(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(1)
        assert not quota.reserve(user_id=user, id="m", units=2)["granted"]
        results = quota.batch(
            [
                {"op": "reserve", "user_id": user, "id": "m", "units": 2},
                {"op": "reserve", "user_id": user, "id": "n", "units": 0},
            ]
        )
        assert [result["status"] for result in results] == [200, 400]
        with QuotaClient(service.url, service.admin) as admin:
            admin.create_quota(user_id=user, limit=5)
        for id in ("m", "n"):
            network.losses = 1
            assert quota.reserve(user_id=user, id=id, units=2)["replayed"] is False


class TestAMessageThatAnotherProcessAskedForIsARepetition:
    def test_if_the_first_answer_says_so_or_units_are_settled(
        self, quota: Any, service: Service, network: Network
    ) -> None:
        user = service.user(10)
        with QuotaClient(service.url, service.sender) as other:
            for id in ("open", "done", "free"):
                other.reserve(user_id=user, id=id, units=2)
            other.commit(user_id=user, id="done")
            other.release(user_id=user, id="free", total_units=1)
        assert quota.reserve(user_id=user, id="open", units=2)["replayed"]
        for id in ("done", "free"):
            network.losses = 1
            assert quota.reserve(user_id=user, id=id, units=2)["replayed"]

    def test_but_not_if_an_answer_was_lost_and_it_is_as_if_this_process_was_first(
        self, quota: Any, service: Service, network: Network
    ) -> None:
        user = service.user(10)
        with QuotaClient(service.url, service.sender) as other:
            other.reserve(user_id=user, id="open", units=2)
        network.losses = 1
        assert quota.reserve(user_id=user, id="open", units=2)["replayed"] is False
