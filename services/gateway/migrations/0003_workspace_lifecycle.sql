-- Workspaces can be suspended and deleted. Keys of either are refused from the commit on, everywhere within 5 s.
alter table workspace
  add column suspended_at timestamptz,
  add column suspension_reason text check (length(suspension_reason) between 1 and 255),
  add column suspended_by_live boolean not null default false, -- a sandbox, with its live workspace
  add column deleted_at timestamptz; -- the row itself is deleted soon after

create function announce_workspace_status() returns trigger
  language plpgsql as $$
begin
  perform pg_notify('gateway_workspace_changed', new.id::text);
  return null;
end
$$;

create trigger announce after update on workspace for each row execute function announce_workspace_status();

-- Deletions that operators asked for. They have no data of the workspace but ids, and stay, as the audit log does.
create table workspace_deletion (
  id uuid primary key, -- of the workspace
  parent uuid not null, -- as in workspace: the deletion of a live workspace is one with that of its sandbox
  requested_at timestamptz not null
);

create index workspace_deletion_parent on workspace_deletion (parent);

alter table workspace_deletion enable row level security;
alter table workspace_deletion force row level security;
create policy workspace on workspace_deletion
  using (nullif(current_setting('app.workspace_id', true), '')::uuid in (id, parent));
call grant_worker('select', 'workspace_deletion');
revoke update, delete on workspace_deletion from gateway;

-- The log of what was done to a workspace outlives it.
alter table audit drop constraint audit_workspace_id_fkey;

grant update (suspended_at, suspension_reason, suspended_by_live, deleted_at), delete on workspace to gateway;
grant delete on settings, api_key to gateway;
