import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AdministratorApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.SenderApi;
import org.openapitools.client.model.*;

/** A round of calls with the client for Java. Arguments: the address of the service, a token, a user. */
public class Round {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(args[0]);
    client.addDefaultHeader("Authorization", "Bearer " + args[1]);
    long user = Long.parseLong(args[2]);
    AdministratorApi admin = new AdministratorApi(client);
    SenderApi sender = new SenderApi(client);

    CreateQuotaReq asked = new CreateQuotaReq().userId(user).limit(3L).period(CreateQuotaReq.PeriodEnum.MONTH);
    SmsQuota quota = admin.createQuota(asked, null);
    if (quota.getExpiresAt() != null || quota.getLimit() != 3) throw new Exception("not the quota: " + quota);
    CheckReqMessage message = new CheckReqMessage().to("+4915112345678").text("x".repeat(161));
    Granted granted = sender.reserve(new ReserveReq().userId(user).id("m-1").message(message)).getGranted();
    Settled settled = sender.commit(new CommitReq().userId(user).id("m-1"));
    Denied denied = sender.consume(new ConsumeReq().userId(user).id("m-2").units(5)).getDenied();
    QuotaSummary summary = admin.summarizeQuotasOfUser(user, null);
    EventPage events = new EventsApi(client).listEvents(null, 1, null, user, null, null, null);
    String type = events.getItems().get(0).getQuotaCreatedEvent().getType().toString();
    String code;
    try {
      sender.getReservation(user, "none");
      code = "found";
    } catch (ApiException error) {
      code = error.getCode() + " " + (error.getResponseBody().contains("\"not_found\"") ? "not_found" : "?");
    }
    System.out.println(List.of(granted.getUnits(), settled.getCommitted(), denied.getReason(), summary.getRemaining(), type, code));
  }
}
