from typing import Any, Mapping


class QuotaError(Exception):
    """The service refused a call. What to do depends on `code`, for example "not_found"."""

    def __init__(self, problem: Mapping[str, Any], *, may_have_taken_effect: bool = False) -> None:
        issues = "; ".join(f"{issue['path']} {issue['message']}" for issue in problem.get("errors", []))
        super().__init__(f"{problem['code']}: {problem['detail']}" + (f" ({issues})" if issues else ""))
        self.code: str = problem["code"]
        self.status: int = problem["status"]
        #: The id of the call in the service's log.
        self.request_id: str = problem.get("request_id", "")
        #: The whole answer, with the fields that only some codes have.
        self.problem = problem
        #: True if an earlier attempt of the call, whose answer was lost, may have done what this one was refused.
        self.may_have_taken_effect = may_have_taken_effect


class UnavailableError(Exception):
    """
    There was no final answer in time: the service could not be reached, did not answer, or asked to try later.
    Operations of senders can be repeated with the same id whether or not they took effect.
    """

    def __init__(self, message: str, *, may_have_taken_effect: bool, is_outage: bool = True) -> None:
        super().__init__(message)
        #: False if no attempt of the call has done anything, for certain.
        self.may_have_taken_effect = may_have_taken_effect
        #: False if the service is there, and answered "rate_limited" or "overloaded". That is no reason to send without it.
        self.is_outage = is_outage


def is_uncertain(error: BaseException) -> bool:
    """Whether the call that failed so may have taken effect: only an error of this file can rule that out."""
    return not isinstance(error, (QuotaError, UnavailableError)) or error.may_have_taken_effect


class UnknownIfSent(Exception):
    """Raised by a `send` that cannot tell whether the message left, for example after a time-out of the provider."""
