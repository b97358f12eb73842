-- How each endpoint answers: facts, which the recorder writes with the attempts, and the state that follows from them (OP-253, OP-254). An
-- endpoint has its row from its creation on, so that attempts only update it.
create table endpoint_health (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  state text not null default 'ACTIVE' check (state in ('ACTIVE', 'FAILING', 'DISABLED')),
  reason text, -- null while ACTIVE
  since timestamptz, -- of the state; null: since the endpoint was created
  last_success_at timestamptz, -- up to ten seconds behind, as last_failed_at
  failing_since timestamptz, -- the first failed attempt after the last success; null when there is none
  is_gone boolean not null default false, -- one of these was answered 410
  given_up_at timestamptz, -- when the last attempt of a delivery failed
  last_failed_at timestamptz,
  last_failure jsonb, -- {error_class, response_status}
  primary key (workspace_id, endpoint_id),
  foreign key (workspace_id, endpoint_id) references endpoint (workspace_id, id) on delete cascade
) with (fillfactor = 50);

-- What the worker looks at each minute. No other index, so that what attempts write stays on its page.
create index endpoint_health_failing on endpoint_health (failing_since) where failing_since is not null or state = 'FAILING';

create function add_endpoint_health() returns trigger language plpgsql as $$
begin
  insert into endpoint_health (workspace_id, endpoint_id) values (new.workspace_id, new.id);
  return null;
end
$$;

create trigger health_of_new_endpoints after insert on endpoint for each row execute function add_endpoint_health();

-- blocks: a workspace has at most 500 endpoints, and those of apps
call backfill('insert into endpoint_health (workspace_id, endpoint_id) select workspace_id, id from endpoint', 'endpoint', 'endpoint_health');

call enable_workspace_rls('endpoint_health');
call grant_worker('select, update', 'endpoint_health');

-- Whether endpoints of the workspace are disabled that fail for three days (OP-254).
alter table endpoint_set add column disables_failing boolean not null default true;

do $$
begin
  execute format('grant insert, update on endpoint_set to %I', current_schema() || '_worker');
end
$$;
