-- Marks of quotas: what a quota has reached in its current window. Alerts list them, and lists of exhausted quotas find
-- their candidates here, so that neither reads all quotas. Written in the transaction that reaches a mark, at most once
-- per window, so a send that reaches none pays nothing. A row is a candidate only: readers compare the quota as it stands.
-- One quota has at most 101 rows. A job removes those whose window has ended.
create table quota_alert (
  shard    smallint    not null,
  quota_id bigint      not null,
  -- 1 to 100: a percent of `alert_at` whose event was emitted. 101: the quota had nothing left to draw.
  percent  smallint    not null,
  at       timestamptz not null,
  -- When the window or the quota ends; 'infinity' if neither does.
  ends_at  timestamptz not null,
  primary key (shard, quota_id, percent)
);
create index quota_alert_worst on quota_alert (percent, at, quota_id) where percent <= 100;
create index quota_alert_exhausted on quota_alert (quota_id) where percent = 101;
create index quota_alert_end on quota_alert (shard, ends_at);

-- The percents of windows that are open. Their times are in the outbox; where they are not, the window's start stands.
insert into quota_alert (shard, quota_id, percent, at, ends_at)
  select q.shard, q.id, reached.percent, coalesce(max(e.at), q.window_start),
    greatest(q.window_start, least(coalesce(q.window_end, 'infinity'), coalesce(q.expires_at, 'infinity')))
  from quota q cross join unnest(q.alerted) reached (percent)
  left join (
    select shard, (data -> 'quota' ->> 'id')::bigint as quota_id, (data ->> 'percent')::smallint as percent, at
    from event where data ? 'percent'
  ) e on e.shard = q.shard and e.quota_id = q.id and e.percent = reached.percent and e.at >= q.window_start
  where q.deleted_at is null
  group by q.shard, q.id, reached.percent;

-- The quotas with nothing left to draw. Those without any units stay so from window to window.
insert into quota_alert (shard, quota_id, percent, at, ends_at)
  select shard, id, 101, window_start,
    case when "limit" = 0 and overage_limit = 0 then coalesce(expires_at, 'infinity')
      else greatest(window_start, least(coalesce(window_end, 'infinity'), coalesce(expires_at, 'infinity'))) end
  from quota
  where deleted_at is null
    and ("limit" + rolled_over + overage_limit <= used + reserved or ("limit" = 0 and overage_limit = 0));

-- Alerts do not read the outbox any more.
drop index event_of_percent;

-- Lists over all users in further orders. chr(1114111), the last character there is, stands for "none" and sorts last.
-- Ignoring case is what lower() does in the database's locale; the order is by bytes, so that a new version of the
-- system's collations does not break an index. The search uses those by name and reference, too. Deleted quotas are kept for
-- ever by default, so they have no such indexes: lists of them are by id or expiry.
create index quota_list_by_name on quota ((coalesce(lower(name), chr(1114111)) collate "C"), id)
  where deleted_at is null;
create index quota_list_by_external_ref on quota ((coalesce(external_ref, chr(1114111)) collate "C"), id)
  where deleted_at is null;
create index quota_list_by_creation on quota (created_at, id) where deleted_at is null;
