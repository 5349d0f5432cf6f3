"""
with_reservation when answers are lost, and when it is called again: what is charged in the end is what was sent, and nothing
is sent twice.
"""

import asyncio
import threading
import time
from typing import Any, Callable

import pytest

from sms_quota import AsyncQuotaClient, QuotaClient, QuotaError, UnavailableError, UnknownIfSent

from .conftest import Service
from .network import Network

Connect = Callable[..., Any]
#: Of each call, in seconds.
SHORT = 0.4


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def quota(connect: Connect, service: Service, network: Network) -> Any:
    return connect(service.url, service.sender, network)


def charged(service: Service, user_id: int) -> int:
    """The units that are charged when all reservations, which live for a second, have expired."""
    used, _ = eventually(lambda: service.counted(user_id), lambda counted: counted[1] == 0)
    return int(used)


def eventually(read: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + 20
    while not is_so(found := read()):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def send(_: object) -> str:
    return "sent"


def never(_: object) -> Any:
    pytest.fail("sent")


def fail(_: object) -> None:
    raise ConnectionError("no route")


def forget(_: object) -> None:
    raise UnknownIfSent("time-out")


class TestWhatIsNotSentIsNotCharged:
    @pytest.mark.parametrize("on_expiry", [None, "commit", "release"])
    def test_if_the_answer_to_the_reserve_is_lost(
        self, quota: Any, service: Service, network: Network, on_expiry: str | None
    ) -> None:
        user = service.user(5)
        more = {} if on_expiry is None else {"on_expiry": on_expiry}
        network.deaf = {"reserve"}
        with pytest.raises(UnavailableError) as unavailable:
            quota.with_reservation(never, user_id=user, id="m", units=2, ttl_seconds=1, timeout=SHORT, **more)
        assert unavailable.value.may_have_taken_effect
        assert charged(service, user) == 0

    def test_if_the_answer_to_the_commit_is_lost(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(5)
        network.deaf = {"commit"}
        with pytest.raises(UnavailableError):
            quota.with_reservation(never, user_id=user, id="m", units=2, timeout=SHORT)
        assert [(one.user_id, one.id, one.outcome) for one in quota.unsettled()] == [(user, "m", "not-sent")]
        network.deaf = set()
        quota.close()
        assert quota.unsettled() == []
        assert service.counted(user) == (0, 0)

    def test_if_the_commit_does_not_arrive(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(5)
        network.away = {"commit"}
        with pytest.raises(UnavailableError):
            quota.with_reservation(never, user_id=user, id="m", units=2, timeout=SHORT)
        assert quota.unsettled() == []
        network.away = set()
        # Nothing was sent for certain, so it is sent now.
        assert quota.with_reservation(send, user_id=user, id="m", units=2).sent is True
        assert service.counted(user) == (2, 0)

    @pytest.mark.parametrize("on_expiry, operation", [("commit", "refund"), ("release", "release")])
    def test_if_the_send_fails_and_giving_back_is_not_answered(
        self, quota: Any, service: Service, network: Network, on_expiry: str, operation: str
    ) -> None:
        user = service.user(5)
        network.away = {operation, "batch"}
        asked = {"user_id": user, "id": "m", "units": 2, "on_expiry": on_expiry}
        with pytest.raises(ConnectionError, match="no route"):
            quota.with_reservation(fail, **asked)
        with pytest.raises(UnavailableError, match="what became of 1 message"):
            quota.close()
        with pytest.raises(UnavailableError, match="are being given back") as unavailable:
            quota.with_reservation(never, **asked)
        assert not unavailable.value.is_outage
        network.away = set()
        quota.close()
        assert service.counted(user) == (0, 0)

    def test_in_the_background(self, service: Service, network: Network) -> None:
        user = service.user(5)
        quota = QuotaClient(service.url, service.sender, transport=network)
        network.deaf = {"commit"}
        for id in ("a", "b"):
            with pytest.raises(UnavailableError):
                quota.with_reservation(never, user_id=user, id=id, units=2, timeout=SHORT)
        network.losses = 2
        network.deaf = set()
        eventually(quota.unsettled, lambda unsettled: unsettled == [])
        assert service.counted(user) == (0, 0)
        eventually(lambda: [thread.name for thread in threading.enumerate()], lambda names: "sms-quota" not in names)
        quota.close()

    def test_in_the_background_of_a_loop(self, service: Service, network: Network) -> None:
        async def lose() -> None:
            async with AsyncQuotaClient(service.url, service.sender, transport=network) as quota:
                network.deaf = {"commit"}
                with pytest.raises(UnavailableError):
                    await quota.with_reservation(never, user_id=user, id="m", units=2, timeout=SHORT)
                network.deaf = set()
                async with asyncio.timeout(20):
                    while quota.unsettled():
                        await asyncio.sleep(0.02)

        user = service.user(5)
        asyncio.run(lose())
        assert service.counted(user) == (0, 0)

    def test_if_the_task_is_canceled_in_the_commit(self, service: Service, network: Network) -> None:
        async def cancel() -> None:
            async with AsyncQuotaClient(service.url, service.sender, transport=network) as quota:
                network.away = {"commit"}
                async with asyncio.timeout(20):
                    asked: Any = {"user_id": user, "id": "m", "units": 2, "timeout": 20}
                    task = asyncio.create_task(quota.with_reservation(never, **asked))
                    while service.counted(user) != (0, 2):
                        await asyncio.sleep(0.02)
                    while not network.missed:
                        await asyncio.sleep(0.02)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert len(quota.unsettled()) == 1

        user = service.user(5)
        asyncio.run(cancel())
        assert service.counted(user) == (0, 0)

    def test_an_error_of_the_program_comes_before_one_of_the_end(self, service: Service, network: Network) -> None:
        user = service.user(5)
        network.away = {"refund", "batch"}
        with pytest.raises(ConnectionError, match="no route"):
            with QuotaClient(service.url, service.sender, transport=network) as quota:
                quota.with_reservation(fail, user_id=user, id="m", units=2)
        network.away = set()
        quota.close()
        assert service.counted(user) == (0, 0)


class TestWhatIsSentIsChargedOnce:
    def test_it_is_committed_before_the_send(self, quota: Any, service: Service) -> None:
        user = service.user(5)
        sent = quota.with_reservation(lambda _: service.counted(user), user_id=user, id="m", units=2)
        assert (sent.sent, sent.value) == (True, (2, 0))

    def test_or_after_it(self, quota: Any, service: Service) -> None:
        user = service.user(5)
        asked = {"user_id": user, "id": "m", "units": 2, "on_expiry": "release"}
        sent = quota.with_reservation(lambda _: service.counted(user), **asked)
        assert (sent.sent, sent.value) == (True, (0, 2))
        assert service.counted(user) == (2, 0)

    def test_if_a_send_cannot_tell(self, quota: Any, service: Service) -> None:
        user = service.user(5)
        sent = quota.with_reservation(forget, user_id=user, id="m", units=2)
        assert (sent.sent, sent.reservation["state"]) == (None, "committed")
        assert service.counted(user) == (2, 0)

    def test_if_the_program_is_interrupted_in_the_send(self, service: Service) -> None:
        def interrupt(_: object) -> None:
            raise KeyboardInterrupt

        user = service.user(5)
        with pytest.raises(KeyboardInterrupt):
            with QuotaClient(service.url, service.sender) as quota:
                quota.with_reservation(interrupt, user_id=user, id="m", units=2)
        assert service.counted(user) == (2, 0)

    @pytest.mark.parametrize("is_expired", [False, True])
    def test_if_the_commit_after_the_send_is_not_answered(
        self, quota: Any, service: Service, network: Network, is_expired: bool
    ) -> None:
        user = service.user(5)
        asked = {"user_id": user, "id": "m", "units": 2, "ttl_seconds": 1 if is_expired else 600}
        network.away = {"commit", "batch"}
        sent = quota.with_reservation(send, **asked, on_expiry="release")
        assert (sent.sent, sent.value, sent.settled) == (True, "sent", None)
        assert isinstance(sent.error, UnavailableError)
        assert [one.outcome for one in quota.unsettled()] == ["sent"]
        assert quota.with_reservation(never, **asked).sent == "before"
        if is_expired:
            assert charged(service, user) == 0
        network.away = set()
        quota.close()
        assert service.counted(user) == (2, 0)


class TestAsked:
    def test_again_what_is_committed_is_not_sent(self, connect: Connect, service: Service) -> None:
        user = service.user(5)
        first, second = (connect(service.url, service.sender) for _ in range(2))
        assert first.with_reservation(send, user_id=user, id="m", units=2).sent is True
        for quota in (first, second):
            for options in ({}, {"on_repeated": "send"}, {"on_expiry": "release"}):
                again = quota.with_reservation(never, user_id=user, id="m", units=2, **options)
                assert (again.sent, again.reservation["committed"]) == ("before", 2)
        assert service.counted(user) == (2, 0)

    @pytest.mark.parametrize("on_expiry", ["commit", "release"])
    def test_again_what_is_open_is_sent_only_if_the_caller_says_so(
        self, quota: Any, service: Service, on_expiry: str
    ) -> None:
        user = service.user(5)
        with QuotaClient(service.url, service.sender) as other:
            other.reserve(user_id=user, id="m", units=2)
        asked = {"user_id": user, "id": "m", "units": 2, "on_expiry": on_expiry}
        unknown = quota.with_reservation(never, **asked)
        assert (unknown.sent, unknown.reservation["state"]) == (None, "reserved")
        assert isinstance(unknown.error, UnknownIfSent)
        assert quota.with_reservation(send, **asked, on_repeated="send").sent is True
        assert service.counted(user) == (2, 0)

    def test_with_an_unknown_meaning(self, quota: Any) -> None:
        with pytest.raises(ValueError, match='it can be "unknown" or "send"'):
            quota.with_reservation(never, user_id=1, id="m", units=2, on_repeated="maybe")

    def test_again_after_its_units_were_given_back(self, quota: Any, service: Service) -> None:
        user = service.user(5)
        with pytest.raises(ConnectionError):
            quota.with_reservation(fail, user_id=user, id="m", units=2)
        with pytest.raises(QuotaError) as refused:
            quota.with_reservation(never, user_id=user, id="m", units=2)
        assert refused.value.code == "reservation_closed"

    @pytest.mark.parametrize("lost", ["away", "deaf"])
    def test_again_what_this_client_could_not_ask_for(
        self, quota: Any, service: Service, network: Network, lost: str
    ) -> None:
        user = service.user(5)
        setattr(network, lost, {"reserve"})
        with pytest.raises(UnavailableError):
            quota.with_reservation(never, user_id=user, id="m", units=2, timeout=SHORT)
        setattr(network, lost, set())
        assert quota.with_reservation(send, user_id=user, id="m", units=2).sent is True
        assert quota.with_reservation(never, user_id=user, id="m", units=2).sent == "before"
        assert service.counted(user) == (2, 0)

    def test_once_with_lost_answers_it_is_sent(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(5)
        network.losses = 1
        sent = quota.with_reservation(lambda reservation: reservation["replayed"], user_id=user, id="m", units=2)
        assert (sent.sent, sent.value) == (True, False)

    @pytest.mark.parametrize("on_expiry", ["commit", "release"])
    def test_again_in_an_outage_what_this_client_has_sent_is_not_sent(
        self, quota: Any, service: Service, network: Network, on_expiry: str
    ) -> None:
        user = service.user(5)
        asked = {"user_id": user, "units": 1, "on_expiry": on_expiry, "timeout": SHORT}
        quota.with_reservation(send, id="sent", **asked)
        quota.with_reservation(forget, id="unknown", **asked)
        with pytest.raises(ConnectionError):
            quota.with_reservation(fail, id="failed", **asked)
        network.away = {"reserve"}
        before = quota.with_reservation(never, id="sent", **asked)
        assert (before.sent, before.reservation) == ("before", None)
        unknown = quota.with_reservation(never, id="unknown", **asked)
        # What was committed before its send is charged in any case.
        assert unknown.sent == ("before" if on_expiry == "commit" else None)
        # Its units were given back, so that nothing can be charged to its id.
        with pytest.raises(UnavailableError):
            quota.with_reservation(never, id="failed", **asked)
        network.away = set()
        assert service.counted(user) == ((2, 0) if on_expiry == "commit" else (1, 1))

    @pytest.mark.parametrize("status, error", [(429, UnavailableError), (500, QuotaError)])
    def test_again_in_vain_what_may_have_been_sent_is_not_sent_then(
        self, quota: Any, service: Service, network: Network, status: int, error: type[Exception]
    ) -> None:
        user = service.user(5)
        asked = {"user_id": user, "id": "m", "units": 1, "on_expiry": "release"}
        assert quota.with_reservation(forget, **asked).sent is None
        network.pages = {"reserve": status}
        with pytest.raises(error):
            quota.with_reservation(never, **asked)
        network.pages = {}
        assert quota.with_reservation(never, **asked).sent is None

    def test_once_but_its_commit_arrives_twice_it_is_not_known(
        self, quota: Any, service: Service, network: Network
    ) -> None:
        user = service.user(5)
        network.doubled = {"commit"}
        told = quota.with_reservation(never, user_id=user, id="m", units=2)
        assert (told.sent, told.reservation["committed"], told.reservation["replayed"]) == (None, 2, False)
        assert isinstance(told.error, UnknownIfSent)
        assert service.counted(user) == (2, 0)

    def test_asked_for_in_vain_before_and_its_commit_arrives_twice_it_is_not_known(
        self, quota: Any, service: Service, network: Network
    ) -> None:
        user = service.user(5)
        network.deaf = {"reserve"}
        with pytest.raises(UnavailableError):
            quota.with_reservation(never, user_id=user, id="m", units=2)
        network.deaf = set()
        network.doubled = {"commit"}
        sent = quota.with_reservation(never, user_id=user, id="m", units=2)
        assert (sent.sent, sent.reservation["committed"]) == (None, 2)
        assert isinstance(sent.error, UnknownIfSent)
        assert service.counted(user) == (2, 0)

    def test_by_several_at_the_same_time_one_sends(self, service: Service) -> None:
        user = service.user(50)
        sends: list[object] = []
        outcomes: list[object] = []

        def work() -> None:
            with QuotaClient(service.url, service.sender) as quota:
                asked: Any = {"user_id": user, "id": "m", "units": 2, "on_repeated": "send"}
                outcomes.append(quota.with_reservation(sends.append, **asked).sent)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(sends) == 1
        assert outcomes.count(True) == 1
        # One whose commit comes second cannot tell another call's from its own, which the network has repeated.
        assert set(outcomes) <= {True, "before", None}
        assert service.counted(user) == (2, 0)


class TestACodeThatWasEntered:
    def test_is_counted_once(self, quota: Any, service: Service, network: Network) -> None:
        user = service.user(5)
        for id in ("a", "b"):
            assert quota.consume(user_id=user, id=id, units=1)["granted"]
        network.away = {"feedback", "batch"}
        quota.verified(user_id=user, id="a", timeout=SHORT)
        assert [(message.id, message.outcome) for message in quota.unsettled()] == [("a", "verified")]
        # Feedback that is open keeps no message from being sent.
        assert quota.with_reservation(send, user_id=user, id="c", units=1).sent is True
        network.away = set()
        network.deaf = {"feedback"}
        quota.verified(user_id=user, id="b", timeout=SHORT)
        network.deaf = set()
        # A loop goes on with the background while it is asked.
        eventually(
            lambda: (quota.check(user_id=user, units=1), quota.unsettled())[1], lambda unsettled: unsettled == []
        )
        assert quota.feedback(user_id=user, id="b")["replayed"] is True
        assert quota.commit(user_id=user, id="c", verified=True)["verified"] is True
        assert service.verified(user) == 3
        with pytest.raises(QuotaError) as refused:
            quota.verified(user_id=user, id="nowhere")
        assert refused.value.code == "not_found"
