-- Denied reserves and consumptions, to answer why a message was refused. The engine writes a row in the transaction of
-- the batch that denies, for a bounded number of denials (docs/decisions/0026-a-log-of-denials.md); usage counts all of
-- them. Rows never change. The denial retention removes them after 7 days (by default).
create sequence denial_number as bigint;
create table denial (
  shard             smallint    not null,
  user_id           bigint      not null,
  at                timestamptz not null,
  -- Tells the denials of one user and millisecond apart.
  number            bigint      not null,

  -- The request. The id is the sender's own, and several denials may have it: a denied id is decided again. What was to
  -- be sent, and to which number, is not stored.
  id                text        collate "C" not null,
  op                text        not null,
  units             bigint      not null,
  country           text,
  message_type      text,
  allow_partial     boolean     not null,

  -- The answer.
  reason            text        not null,
  remaining         bigint,
  limiting_quota_id bigint,
  retry_at          timestamptz,
  -- Why each quota did or did not count, as the API shows it: 20 lines at most.
  explanation       jsonb       not null,

  -- The user's denials that the process which wrote the row had left out since its last row of the user; null if it does
  -- not know, because it has had to forget counts.
  skipped           bigint,

  -- Also for the list of one user, newest first.
  primary key (shard, user_id, at, number)
) with (
  -- Retention removes rows all the time.
  autovacuum_vacuum_scale_factor = 0.05
);
-- Over all users: the list, newest first, and retention, oldest first. The expression keeps the planner from taking it for
-- the list of one user, which it would read from end to end if the denials of that user are old.
create index denial_by_time on denial ((at at time zone 'UTC'), number);
-- By the sender's id, of one user or of all.
create index denial_by_id on denial (id, at, number);
