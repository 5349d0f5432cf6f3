"""A round of calls with the client for Python of openapi-generator. Arguments: the address of the service, a token, a user."""

import sys

import openapi_client as api

url, token, user = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = api.ApiClient(api.Configuration(host=url, access_token=token))
admin, sender = api.AdministratorApi(client), api.SenderApi(client)

quota = admin.create_quota(api.CreateQuotaReq(user_id=user, limit=3, period="month"))
assert quota.expires_at is None and quota.limit == 3, quota
message = api.CheckReqMessage(to="+4915112345678", text="x" * 161)
granted = sender.reserve(api.ReserveReq(user_id=user, id="m-1", message=message)).actual_instance
settled = sender.commit(api.CommitReq(user_id=user, id="m-1"))
denied = sender.consume(api.ConsumeReq(user_id=user, id="m-2", units=5)).actual_instance
summary = admin.summarize_quotas_of_user(user)
event = api.EventsApi(client).list_events(user_id=user, last=1).items[0].actual_instance
try:
    sender.get_reservation(user, "none")
    code = "found"
except api.exceptions.NotFoundException as error:
    code = f"{error.status} {error.data.code}"
print(f"[{granted.units}, {settled.committed}, {denied.reason}, {summary.remaining}, {event.type}, {code}]")
