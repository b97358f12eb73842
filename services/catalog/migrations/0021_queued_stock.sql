-- Records of stock that comes back which the consumers do not apply at once: another transaction has locked the rows, or earlier
-- records of the workspace wait here. A worker applies them. Replicas of the version before pass the table over.
create table queued_stock (
  workspace_id uuid not null,
  id uuid not null, -- of the reservation that is released, or of the return
  type text not null, -- of the record
  data json not null, -- of the record
  livemode boolean not null,
  traceparent text not null,
  queued_at timestamptz not null default now(),
  due_at timestamptz not null default now(), -- a worker that takes the record moves it on, so others go first if it fails
  primary key (workspace_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create index queued_stock_due on queued_stock (workspace_id, due_at);

call enable_workspace_rls('queued_stock');
call grant_worker('select', 'queued_stock'); -- to find the workspaces that have some, and to measure them
