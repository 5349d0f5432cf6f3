-- A queue of messages. Programs insert jobs, workers take them.
create table sms_job (
  id bigint generated always as identity primary key,
  -- Whose quotas pay, in sms-quota.
  user_id bigint not null,
  recipient text not null,
  body text not null,
  -- waiting and sending: a worker takes it at run_at. sent, denied and failed: done. unknown: a person decides.
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'sent', 'denied', 'failed', 'unknown')),
  -- While a worker sends the job, the time at which another one may take it.
  run_at timestamptz not null default now(),
  -- How often a worker has taken it.
  attempt int not null default 0,
  note text,
  created_at timestamptz not null default now()
);

create index sms_job_due on sms_job (run_at) where state in ('waiting', 'sending');
