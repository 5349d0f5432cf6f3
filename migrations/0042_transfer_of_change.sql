-- serves: 0.1.0
-- The transfer that a change of a quota belongs to: it gave or took units, or gave them back. Null: none, or a version before this one made it.
alter table quota_change add column transfer_id bigint;
