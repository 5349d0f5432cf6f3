-- serves: 0.1.0
-- What the receiver answered to the last attempt, if that was not delivered (docs/decisions/webhooks.md#what-an-answer-means): at most 500
-- characters. It goes with the delivery.
alter table webhook_delivery add column answer text;
