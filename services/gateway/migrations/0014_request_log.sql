set local lock_timeout = '5s';

-- The requests of workspaces for seven days, so that support finds one by its X-Request-Id. No bodies, no queries.
create table request_log (
  workspace_id uuid not null,
  request_id uuid primary key,
  at timestamptz not null,
  key_id text not null, -- or of a session of support
  method text not null,
  path text not null,
  route text,
  service text, -- which answered; null for the gateway itself
  status smallint not null,
  error_reason text, -- the header Error-Reason
  duration_ms real not null,
  trace_id text
);

create index request_log_at on request_log (at);
call enable_workspace_rls('request_log');
call grant_worker('select, insert, update, delete', 'request_log');
