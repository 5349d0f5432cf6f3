// A round of calls with the client for Go of openapi-generator. Arguments: the address of the service, a token, a user.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	user, _ := strconv.ParseInt(os.Args[3], 10, 64)
	config := client.NewConfiguration()
	config.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	config.AddDefaultHeader("Authorization", "Bearer "+os.Args[2])
	api := client.NewAPIClient(config)
	ctx := context.Background()

	limit := int64(3)
	asked := client.NewCreateQuotaReq(*client.NewNullableInt64(&limit))
	asked.SetUserId(user)
	asked.SetPeriod("month")
	quota := must(api.AdministratorAPI.CreateQuota(ctx).CreateQuotaReq(*asked).Execute())
	if quota.ExpiresAt.Get() != nil || *quota.Limit.Get() != 3 {
		panic("not the quota")
	}
	reserve := client.NewReserveReq("m-1")
	reserve.SetUserId(user)
	reserve.SetMessage(*client.NewCheckReqMessage("+4915112345678", strings.Repeat("x", 161)))
	granted := must(api.SenderAPI.Reserve(ctx).ReserveReq(*reserve).Execute()).Granted
	commit := client.NewCommitReq("m-1")
	commit.SetUserId(user)
	settled := must(api.SenderAPI.Commit(ctx).CommitReq(*commit).Execute())
	consume := client.NewConsumeReq("m-2")
	consume.SetUserId(user)
	consume.SetUnits(5)
	denied := must(api.SenderAPI.Consume(ctx).ConsumeReq(*consume).Execute()).Denied
	summary := must(api.AdministratorAPI.SummarizeQuotasOfUser(ctx).UserId(user).Execute())
	events := must(api.EventsAPI.ListEvents(ctx).UserId(user).Last(1).Execute())
	event := events.Items[0].QuotaCreatedEvent
	_, answer, err := api.SenderAPI.GetReservation(ctx, user, "none").Execute()
	problem := err.(*client.GenericOpenAPIError).Model().(client.Problem)
	fmt.Printf("[%d, %d, %s, %d, %s, %d %s]\n", granted.Units, settled.Committed, denied.Reason, *summary.Remaining.Get(), event.Type, answer.StatusCode, problem.Code)
}
