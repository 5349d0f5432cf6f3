// A round of calls with the client for Go of oapi-codegen. Arguments: the address of the service, a token, a user.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"generated/api"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	user, _ := strconv.ParseInt(os.Args[3], 10, 64)
	token := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	client := must(api.NewClientWithResponses(os.Args[1], api.WithRequestEditorFn(token)))
	ctx := context.Background()

	limit, period := int64(3), api.CreateQuotaReqPeriodMonth
	asked := api.CreateQuotaReq{UserId: &user, Limit: &limit, Period: &period}
	quota := must(client.CreateQuotaWithResponse(ctx, &api.CreateQuotaParams{}, asked)).JSON201
	if quota.ExpiresAt != nil || *quota.Limit != 3 {
		panic("not the quota")
	}
	var reserve api.ReserveReq
	reserve.UserId, reserve.Id = &user, "m-1"
	text, to := strings.Repeat("x", 161), "+4915112345678"
	reserve.Message = &struct {
		Text *string `json:"text,omitempty"`
		To   *string `json:"to,omitempty"`
	}{Text: &text, To: &to}
	granted := must(must(client.ReserveWithResponse(ctx, reserve)).JSON200.AsGranted())
	settled := must(client.CommitWithResponse(ctx, api.CommitReq{UserId: &user, Id: "m-1"})).JSON200
	units := int32(5)
	denied := must(must(client.ConsumeWithResponse(ctx, api.ConsumeReq{UserId: &user, Id: "m-2", Units: &units})).JSON200.AsDenied())
	if !granted.Granted || denied.Granted {
		panic("granted is wrong")
	}
	summary := must(client.SummarizeQuotasOfUserWithResponse(ctx, &api.SummarizeQuotasOfUserParams{UserId: &user})).JSON200
	last := int32(1)
	events := must(client.ListEventsWithResponse(ctx, &api.ListEventsParams{UserId: &user, Last: &last})).JSON200
	event := must(events.Items[0].AsQuotaCreatedEvent())
	missing := must(client.GetReservationWithResponse(ctx, user, "none"))
	fmt.Printf("[%d, %d, %s, %d, %s, %d %s]\n", granted.Units, settled.Committed, denied.Reason, *summary.Remaining, event.Type, missing.StatusCode(), missing.ApplicationproblemJSON404.Code)
}
