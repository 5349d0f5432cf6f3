-- serves: 0.1.0
-- Rate cards: how many units a segment costs, by destination (docs/guides/prices.md).

-- All cards lie in shard 0, as plans do: there are 100 at most, and each process has all of them in memory. Rows are never removed.
create table rate_card (
  shard       smallint    not null,
  id          bigint      not null,
  -- The last one of `rate_list`.
  version     bigint      not null,
  -- Of that list.
  line_count  integer     not null,
  name        text        not null,
  is_default  boolean     not null,
  archived_at timestamptz,
  created_at  timestamptz not null,
  created_by  text        not null,
  updated_at  timestamptz not null,
  updated_by  text        not null,
  primary key (shard, id),
  constraint rate_card_archived check (archived_at is null or not is_default)
);
create unique index rate_card_default on rate_card (shard) where is_default;

-- The prices of a card. A list never changes, and goes when it has not held for 400 days: reservations keep what they were charged.
create table rate_list (
  shard      smallint    not null,
  card_id    bigint      not null,
  version    bigint      not null,
  -- From when on it holds. Of several the latest holds, of those of one time the last version.
  valid_from timestamptz not null,
  line_count integer     not null,
  -- A price a line: prefix, country, message type, units for each segment, units for the message, separated by tabs.
  lines      text        not null,
  created_at timestamptz not null,
  created_by text        not null,
  primary key (shard, card_id, version)
);

-- Who changed which card, when, from what to what. The audit of plans has the same form (plan_change).
create table rate_card_change (
  shard        smallint    not null,
  rate_card_id bigint      not null,
  -- Numbers the changes of a card, from 1.
  version      bigint      not null,
  action       text        not null check (action in ('created', 'updated', 'archived')),
  at           timestamptz not null,
  actor        text        not null,
  request_id   text        not null,
  -- The card as the API showed it. Null before its creation.
  before       jsonb,
  after        jsonb       not null,
  primary key (shard, rate_card_id, version)
);
create index rate_card_change_by_time on rate_card_change (at, shard, rate_card_id, version);
create index rate_card_change_by_actor on rate_card_change (actor, at, shard, rate_card_id, version);
create index rate_card_change_by_request on rate_card_change (request_id, at, shard, rate_card_id, version);

-- Another random number after each change of cards, and of who has which: processes read them again only then.
alter table pause_state add column rates bigint not null default 0;

-- The card of users of a plan, and of one user. Null: none of their own.
alter table plan add column rate_card_id bigint;
alter table user_profile add column rate_card_id bigint;

-- What a card charged, five numbers with blanks between, which are a quarter of the bytes of an array: the segments that were asked for, the
-- card, its version, units for each segment, units for the message. Null: no card, and `asked` are the segments or units of the request.
alter table reservation add column price text;

-- Committed segments of messages that a card has priced. Null: none.
alter table usage add column committed_segments bigint;
alter table usage_day add column committed_segments bigint;
alter table usage_month add column committed_segments bigint;
alter table usage_busy add column committed_segments bigint;
alter table usage_total add column committed_segments bigint;
comment on column usage_pending.kinds is
  '0 committed, 1 refunded, 2 denied for an unknown reason (older versions), 3 no_quota, 4 cap_reached, 5 quota_exhausted, 6 destination_paused, 7 verified, 8 segments committed';
