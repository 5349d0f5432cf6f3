-- serves: 0.1.0
-- The names that people read beside the subjects of changes (docs/decisions/0054-names-of-actors.md).

-- The name in the newest token of each principal that has a role, 100,000 of them at most. Nothing is decided by it.
create table principal_name (
  subject text        collate "C" primary key,
  name    text        not null,
  -- The user that the token is of, so that an erasure finds the name; null if it is no user's.
  user_id bigint,
  -- When a token with this name was verified; up to a day old.
  seen_at timestamptz not null
);
create index principal_name_by_user on principal_name (user_id) where user_id is not null;
