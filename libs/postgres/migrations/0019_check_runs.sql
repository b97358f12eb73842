-- Runs of checks, which compare what is stored with what should be. Operators ask for them; the service's worker runs one at a time.
create table check_run (
  id uuid primary key default gen_random_uuid(),
  check_name text not null,
  parameters jsonb not null,
  state text not null default 'PENDING' check (state in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  begun integer not null default 0, -- how many times: a replica that ends leaves its run to another one
  checked json not null default '{}', -- how much was compared
  found integer not null default 0,
  findings json not null default '[]', -- the first of them
  error text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz
);

-- Who asks for the same check meanwhile gets the same run.
create unique index check_run_under_way on check_run (check_name, parameters) where ended_at is null;

alter table check_run enable row level security;
alter table check_run force row level security;
call grant_worker('select, insert, update, delete', 'check_run');
