-- A resource that an undo restored has a new version, with the values of an earlier one: the undo of an earlier import then knows
-- that nobody has changed the resource since.
create table restored_version (
  workspace_id uuid not null,
  id uuid not null, -- of the resource
  version text not null, -- as the undo left it
  same_as text not null, -- the version whose values it has
  restored_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

create index restored_version_age on restored_version (restored_at);

call enable_workspace_rls('restored_version');
call grant_worker('select, delete', 'restored_version');

-- Of the resource before the import; null in rows of the version before, and when the import created the resource.
alter table undone_change add column version_before text;
