-- How many requests of API keys each workspace has sent on each day of UTC (OP-272). Gateways add what they have counted in memory.
create table daily_requests (
  workspace_id uuid not null,
  day date not null,
  requests bigint not null,
  rate_limited bigint not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
create index daily_requests_day on daily_requests (day);

call enable_workspace_rls('daily_requests');
call grant_worker('select, insert, update, delete', 'daily_requests');
