-- Up to where every reservation is known to be closed: the sweeper of any process raises it, and a start continues
-- there (docs/decisions/0017-the-sweepers-watermark.md). It is no user's data: to lose or lower it costs reading only.
create table sweeper_watermark (
  shard        smallint    primary key,
  -- No reservation that expires then or before has units outstanding. '-infinity': not known.
  closed_until timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into sweeper_watermark (shard) select generate_series(0, 63);
