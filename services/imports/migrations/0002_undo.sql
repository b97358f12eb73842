-- The undo of an import, and what the owner of its template has told of it so far.
create table import_undo (
  workspace_id uuid not null,
  import_id uuid not null,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'DONE', 'FAILED')),
  deleted bigint not null default 0,
  restored bigint not null default 0,
  kept bigint not null default 0,
  kept_rows json not null default '[]', -- the first 100: [{key, reason}]
  requested_at timestamptz not null default now(),
  stepped_at timestamptz, -- when the owner was last asked
  claimed_until timestamptz, -- one replica at a time asks the owner
  failing_since timestamptz, -- since when the owner has not answered
  primary key (workspace_id, import_id),
  foreign key (workspace_id, import_id) references import (workspace_id, id) on delete cascade
);

create index import_undo_running on import_undo (workspace_id, requested_at) where status = 'RUNNING';

call enable_workspace_rls('import_undo');
-- Workers choose among the undos of all workspaces, and act on one as the app role.
call grant_worker('select', 'import_undo');
