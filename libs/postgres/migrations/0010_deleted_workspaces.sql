-- Deleted workspaces. A worker deletes their rows from all tables, in several passes (decision 025). The rows here stay: they have no
-- data of the workspace but its id.
create table deleted_workspace (
  workspace_id uuid primary key,
  livemode boolean not null,
  noted_at timestamptz not null default now(),
  passes_made integer not null default 0,
  next_pass_at timestamptz default now(), -- null after the last pass
  worked_at timestamptz not null default now() -- workspaces take turns: the one that waits longest is next
);

create index deleted_workspace_pass on deleted_workspace (next_pass_at) where next_pass_at is not null;

alter table deleted_workspace enable row level security;
alter table deleted_workspace force row level security;
call grant_worker('select', 'deleted_workspace');

do $$
begin
  execute format('create policy app on deleted_workspace to %I using (true)', current_schema());
end
$$;

-- A deletion finds the rows of a workspace in each table by an index, also in this one.
create index outbox_workspace on outbox (workspace_id);
