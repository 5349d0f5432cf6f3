-- serves: 0.1.0
-- Only an eraser that says which tables it knows ends an erasure: one of an older version, which would leave rows of newer tables behind,
-- fails to, and one of this version goes on (docs/decisions/erasure-and-audit.md). 0: ended before this.
alter table erasure add column known_tables smallint;
update erasure set known_tables = 0 where finished_at is not null;
alter table erasure add constraint erasure_known_tables check (finished_at is null or known_tables is not null) not valid;
