-- serves: 0.1.0
-- transaction: none
-- Who has a card of their own.
create index concurrently user_profile_by_rate_card on user_profile (rate_card_id) where rate_card_id is not null;
