"""A round of calls with the client of openapi-python-client. Arguments: the address of the service, a token, a user."""

import sys

from sms_quota_client import AuthenticatedClient, models
from sms_quota_client.api.administrator import create_quota, summarize_quotas_of_user
from sms_quota_client.api.events import list_events
from sms_quota_client.api.sender import commit, consume, get_reservation, reserve

url, token, user = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = AuthenticatedClient(base_url=url, token=token)

asked = models.CreateQuotaReq(user_id=user, limit=3, period=models.CreateQuotaReqPeriodType1.MONTH)
quota = create_quota.sync(client=client, body=asked)
assert isinstance(quota, models.SmsQuota) and quota.expires_at is None and quota.limit == 3, quota
message = models.ReserveReqMessage(to="+4915112345678", text="x" * 161)
granted = reserve.sync(client=client, body=models.ReserveReq(user_id=user, id="m-1", message=message))
assert isinstance(granted, models.Granted), granted
settled = commit.sync(client=client, body=models.CommitReq(user_id=user, id="m-1"))
denied = consume.sync(client=client, body=models.ConsumeReq(user_id=user, id="m-2", units=5))
assert isinstance(denied, models.Denied), denied
summary = summarize_quotas_of_user.sync(client=client, user_id=user)
event = list_events.sync(client=client, user_id=user, last=1).items[0]
missing = get_reservation.sync_detailed(client=client, user_id=user, id="none")
code = f"{int(missing.status_code)} {missing.parsed.code}"
print(f"[{granted.units}, {settled.committed}, {denied.reason}, {summary.remaining}, {event.type_}, {code}]")
