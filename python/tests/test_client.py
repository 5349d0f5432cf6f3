import inspect
from typing import Any, Callable

import httpx
import pytest

from sms_quota import AsyncQuotaClient, QuotaClient, QuotaError, UnavailableError, UnknownIfSent

from .conftest import Service

Connect = Callable[..., Any]


@pytest.fixture
def quota(connect: Connect, service: Service) -> Any:
    return connect(service.url, lambda: service.sender)


def test_both_clients_have_the_same_methods() -> None:
    def methods(of: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in inspect.getmembers(of, inspect.isfunction)
            if not name.startswith("_")
        }

    assert methods(QuotaClient) == methods(AsyncQuotaClient)


def test_a_message_from_reservation_to_refund(quota: Any, service: Service) -> None:
    user = service.user(10)
    message = {"to": "+4915112345678", "text": "x" * 161}
    assert quota.check(user_id=user, message=message)["units"] == 2
    reserved = quota.reserve(user_id=user, id="m", message=message)
    assert (reserved["granted"], reserved["units"], reserved["replayed"]) == (True, 2, False)
    assert quota.reserve(user_id=user, id="m", message=message)["replayed"]
    assert service.counted(user) == (0, 2)
    assert quota.commit(user_id=user, id="m", total_units=1)["state"] == "reserved"
    assert quota.release(user_id=user, id="m")["released"] == 1
    assert quota.refund(user_id=user, id="m")["state"] == "refunded"
    assert service.counted(user) == (0, 0)


def test_a_denial_is_a_value(quota: Any, service: Service) -> None:
    user = service.user(1)
    denied = quota.consume(user_id=user, id="m", units=2)
    assert (denied["granted"], denied["reason"], denied["retry_at"]) == (False, "quota_exhausted", None)
    assert quota.consume(user_id=user, id="m", units=2, force=True)["granted"]


def test_operations_of_a_batch_fail_by_themselves(quota: Any, service: Service) -> None:
    user = service.user(5)
    results = quota.batch(
        [
            {"op": "reserve", "user_id": user, "id": "a", "units": 1},
            {"op": "commit", "user_id": user, "id": "unknown"},
            {"op": "commit", "user_id": user, "id": "a"},
        ]
    )
    assert [result["status"] for result in results] == [200, 404, 200]


def test_a_sender_finds_what_it_has_not_settled(quota: Any, service: Service) -> None:
    user = service.user(5)
    for id in ("a", "b", "c"):
        quota.reserve(user_id=user, id=id, units=1, ttl_seconds=600 + ord(id))
    quota.commit(user_id=user, id="b")
    listed = quota.list_reservations(user_id=user, page_size=1)
    assert [(item["user_id"], item["id"], item["state"]) for item in listed] == [
        (user, "a", "reserved"),
        (user, "c", "reserved"),
    ]
    assert [item["id"] for item in quota.list_reservations(user_id=user, state="committed")] == ["b"]
    assert list(quota.list_reservations(user_id=user, older_than=3600)) == []


def test_a_refusal_has_a_code_and_says_what_was_wrong(quota: Any, service: Service) -> None:
    with pytest.raises(QuotaError, match="/units") as refused:
        quota.reserve(user_id=1, id="m", units=0)
    assert (refused.value.code, refused.value.status) == ("invalid_request", 400)
    with pytest.raises(QuotaError) as refused:
        quota.commit(user_id=1, id="unknown", force=True)
    assert refused.value.code == "not_found"
    assert refused.value.request_id


def test_quotas_of_administrators(connect: Connect, service: Service) -> None:
    admin = connect(service.url, service.admin)
    user = service.user(1)
    quota = admin.create_quota(user_id=user, limit=5, idempotency_key=f"key-{user}")
    assert admin.create_quota(user_id=user, limit=5, idempotency_key=f"key-{user}") == quota
    assert admin.update_quota(quota["id"], limit=6, if_match=1)["version"] == 2
    with pytest.raises(QuotaError) as refused:
        admin.update_quota(quota["id"], limit=7, if_match=1)
    assert refused.value.code == "version_mismatch"
    assert [item["limit"] for item in admin.list_quotas(user_id=user, sort="id", page_size=1)] == [1, 6]
    admin.delete_quota(quota["id"])
    with pytest.raises(QuotaError) as refused:
        admin.get_quota(quota["id"])
    assert refused.value.code == "not_found"
    assert admin.request("GET", "/api/sms/admin/quota/list", params={"user_id": user})["total"] == 1


class TestWithReservation:
    def test_commits_what_was_sent(self, quota: Any, service: Service) -> None:
        user = service.user(5)
        sent = quota.with_reservation(lambda reservation: reservation["units"], user_id=user, id="m", units=2)
        assert (sent.sent, sent.value, sent.settled["committed"]) == (True, 2, 2)
        assert service.counted(user) == (2, 0)

    def test_sends_nothing_that_is_denied(self, quota: Any, service: Service) -> None:
        sent = quota.with_reservation(lambda _: pytest.fail("sent"), user_id=service.user(1), id="m", units=2)
        assert (sent.sent, sent.denied["reason"]) == (False, "quota_exhausted")

    def test_refunds_what_failed(self, quota: Any, service: Service) -> None:
        def fail(_: object) -> None:
            raise ConnectionError("no route")

        user = service.user(5)
        with pytest.raises(ConnectionError, match="no route"):
            quota.with_reservation(fail, user_id=user, id="m", units=2)
        assert service.counted(user) == (0, 0)

    def test_keeps_what_is_not_known(self, quota: Any, service: Service) -> None:
        def fail(_: object) -> None:
            raise UnknownIfSent("time-out")

        user = service.user(5)
        assert quota.with_reservation(fail, user_id=user, id="m", units=2).sent is None
        assert service.counted(user) == (2, 0)


class Answers(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Gives one answer after the other; the last one again and again."""

    def __init__(self, *answers: httpx.Response | httpx.TransportError) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"code": code, "status": status, "detail": "why"}
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json", **headers})


FOREIGN_JSON = ["null", "{}", "[]", '{"hello": 1}', '{"granted": 1, "state": 1, "results": {}}']
#: Answers that are not the service's: of a captive portal, of a proxy, of another service.
FOREIGN = [
    httpx.Response(200, text="<html>"),
    httpx.Response(200, text="<html>", headers={"content-type": "application/json"}),
    httpx.Response(200),
    httpx.Response(204),
    *(httpx.Response(200, text=text, headers={"content-type": "application/json"}) for text in FOREIGN_JSON),
    httpx.Response(200, json={"code": "not_found", "detail": "", "status": 404}),
    *(httpx.Response(status, text="<html>") for status in (302, 307, 400, 401, 403, 404, 409, 500, 502)),
    httpx.Response(404, json={"message": "Not Found"}),
    httpx.Response(401, json={"code": "token_not_valid", "detail": "of another service"}),
    httpx.Response(404, json={"title": "Not Found"}, headers={"content-type": "application/problem+json"}),
]


class TestRetries:
    def test_repeats_what_found_no_answer(self, connect: Connect) -> None:
        granted = httpx.Response(200, json={"granted": True})
        network = Answers(httpx.ReadError("reset"), problem(503, "unavailable"), granted)
        quota = connect("http://service", "token", network)
        assert quota.reserve(user_id=1, id="m", units=1) == {"granted": True}
        assert len({request.content for request in network.requests}) == 1
        assert network.requests[0].headers["authorization"] == "Bearer token"

    @pytest.mark.parametrize(
        "answer, may_have_taken_effect, is_outage",
        [
            (problem(503, "overloaded"), False, False),
            (problem(429, "rate_limited"), False, False),
            (problem(503, "unavailable"), True, True),
            (httpx.Response(502, text="<html>"), True, True),
            (httpx.Response(504, text="<html>"), True, True),
            (httpx.Response(429, text="<html>"), True, False),
            (httpx.ConnectError("refused"), False, True),
            (httpx.ConnectTimeout("late"), False, True),
            (httpx.ReadTimeout("late"), True, True),
        ],
    )
    def test_gives_up_at_the_deadline(
        self,
        connect: Connect,
        answer: httpx.Response | httpx.TransportError,
        may_have_taken_effect: bool,
        is_outage: bool,
    ) -> None:
        quota = connect("http://service", "token", Answers(answer))
        with pytest.raises(UnavailableError) as unavailable:
            quota.consume(user_id=1, id="m", units=1, timeout=0.02)
        assert unavailable.value.may_have_taken_effect == may_have_taken_effect
        assert unavailable.value.is_outage == is_outage

    @pytest.mark.parametrize(
        "last, error", [(problem(401, "unauthenticated"), QuotaError), (problem(429, "rate_limited"), UnavailableError)]
    )
    def test_remembers_that_an_earlier_attempt_may_have_taken_effect(
        self, connect: Connect, last: httpx.Response, error: Any
    ) -> None:
        quota = connect("http://service", "token", Answers(httpx.ReadError("reset"), last))
        with pytest.raises(error) as failed:
            quota.reserve(user_id=1, id="m", units=1, timeout=0.2)
        assert failed.value.may_have_taken_effect
        with pytest.raises(error) as failed:
            quota.reserve(user_id=1, id="m", units=1, timeout=0.02)
        assert not failed.value.may_have_taken_effect

    def test_knows_nothing_of_what_failed_in_the_service(self, connect: Connect) -> None:
        with pytest.raises(QuotaError) as failed:
            connect("http://service", "token", Answers(problem(500, "internal"))).reserve(user_id=1, id="m", units=1)
        assert failed.value.may_have_taken_effect

    def test_of_an_attempt_that_the_deadline_ends_nothing_is_known(self, connect: Connect) -> None:
        network = Answers(problem(429, "rate_limited"), httpx.ReadTimeout("late"))
        with pytest.raises(UnavailableError) as unavailable:
            connect("http://service", "token", network).check(user_id=1, units=1, timeout=0.1)
        assert not unavailable.value.is_outage
        network = Answers(problem(429, "rate_limited"), httpx.ConnectError("refused"))
        with pytest.raises(UnavailableError) as unavailable:
            connect("http://service", "token", network).check(user_id=1, units=1, timeout=0.1)
        assert unavailable.value.is_outage

    def test_does_not_wait_longer_than_its_deadline(self, connect: Connect) -> None:
        network = Answers(problem(429, "rate_limited", **{"retry-after": "60"}))
        with pytest.raises(UnavailableError, match="rate_limited: why"):
            connect("http://service", "token", network).check(user_id=1, units=1)
        assert len(network.requests) == 1

    def test_does_not_repeat_a_deletion_that_may_have_been_done(self, connect: Connect) -> None:
        network = Answers(httpx.ReadError("reset"))
        with pytest.raises(UnavailableError):
            connect("http://service", "token", network).delete_quota(1)
        assert len(network.requests) == 1

    def test_an_empty_token_is_an_error_at_once(self, connect: Connect) -> None:
        network = Answers(httpx.Response(200, json={}))
        with pytest.raises(ValueError, match="the token is empty"):
            connect("http://service", "", network)
        with pytest.raises(ValueError, match="the token is empty"):
            connect("http://service", lambda: "", network).summary(1)
        assert network.requests == []

    @pytest.mark.parametrize("answer", FOREIGN)
    def test_takes_what_is_not_the_service_for_silence(self, connect: Connect, answer: httpx.Response) -> None:
        named = {"user_id": 1, "id": "m", "timeout": 0.02}
        calls: list[Callable[[Any], Any]] = [
            lambda quota: quota.check(user_id=1, units=1, timeout=0.02),
            lambda quota: quota.reserve(units=1, **named),
            lambda quota: quota.consume(units=1, **named),
            lambda quota: quota.commit(**named),
            lambda quota: quota.release(**named),
            lambda quota: quota.refund(**named),
            lambda quota: quota.feedback(**named),
            lambda quota: quota.batch([{"op": "commit", "user_id": 1, "id": "m"}], timeout=0.02),
        ]
        for call in calls:
            with pytest.raises(UnavailableError) as silent:
                call(connect("http://service", "token", Answers(answer)))
            assert (silent.value.may_have_taken_effect, silent.value.is_outage) == (True, True)

    @pytest.mark.parametrize(
        "result",
        [None, "a", {"hello": 1}, {"status": 200}, {"status": 200, "body": {"granted": True}}, {"status": 404, "body": {}}],
    )
    def test_takes_no_results_that_are_not_of_its_operations(self, connect: Connect, result: Any) -> None:
        operations = [{"op": "commit", "user_id": 1, "id": "m"}]
        for results in ([], [result], [result, result]):
            network = Answers(httpx.Response(200, json={"results": results}))
            with pytest.raises(UnavailableError):
                connect("http://service", "token", network).batch(operations, timeout=0.02)

    def test_asks_the_other_url_of_what_is_not_the_service(self, connect: Connect) -> None:
        network = Answers(httpx.Response(200, text="<html>"), httpx.Response(200, json={"granted": True, "added": 1}))
        quota = connect(["http://one", "http://other"], "token", network)
        assert quota.check(user_id=1, units=1) == {"granted": True, "added": 1}
        assert len({request.url.host for request in network.requests}) == 2

    def test_names_what_is_not_the_service(self, connect: Connect) -> None:
        quota = connect("http://service", "token", Answers(httpx.Response(404, text="<html>")))
        with pytest.raises(UnavailableError, match="not an answer of sms-quota"):
            quota.request("GET", "/api/sms/admin/quota/1", timeout=0.02)
