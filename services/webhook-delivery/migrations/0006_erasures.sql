-- Erased customers, whose personal data is removed from stored events and attempts in several passes (OP-139). Both new columns are
-- null in the rows of old replicas and of nearly all events: an insert costs as much as before, and needs no other index.

-- A customer whose erasure is in force: until its last pass.
create table erasure (
  workspace_id uuid not null,
  customer_id uuid not null,
  noted_at timestamptz not null,
  passes_made integer not null default 0,
  next_pass_at timestamptz not null,
  primary key (workspace_id, customer_id)
);

create index erasure_next_pass on erasure (next_pass_at);

-- A pass through the events of a workspace, at most one at a time: it looks for several customers at once.
create table erasure_pass (
  workspace_id uuid not null primary key,
  customer_ids uuid[] not null,
  started_at timestamptz not null,
  worked_at timestamptz not null, -- workspaces take turns: the one that waits longest is next
  after_id uuid not null default '00000000-0000-0000-0000-000000000000' -- the last event that was read
);

call enable_workspace_rls('erasure', 'erasure_pass');
call grant_worker('select, insert, update, delete', 'erasure', 'erasure_pass');

alter table event add column erased_at timestamptz; -- when personal data was removed from its body
alter table attempt add column erased_at timestamptz; -- when the response was removed

-- The worker role still cannot read what receivers answered.
do $$
begin
  execute format('grant update (body, erased_at) on event to %I', current_schema() || '_worker');
  execute format(
    'grant select (erased_at), update (response_headers, response_body, response_truncated, erased_at) on attempt to %I',
    current_schema() || '_worker'
  );
end
$$;
