-- What each batch of an import changed, for some days, so that the import can be undone. One row for a batch: a row for each resource
-- would take a fifth of the time of a batch.
create table imported_batch (
  workspace_id uuid not null,
  import_id uuid not null,
  id bigint generated always as identity,
  applied_at timestamptz not null default now(),
  changes json not null, -- [{id, key, former, version_before, version_after}]
  primary key (workspace_id, import_id, id)
);

-- Less work than pglz for the time of a batch. Not every build of PostgreSQL has it.
do $$
begin
  alter table imported_batch alter column changes set compression lz4;
exception
  when feature_not_supported then null;
end
$$;

create index imported_batch_age on imported_batch (applied_at);

-- The undo of an import, and how far it is.
create table undone_import (
  workspace_id uuid not null,
  import_id uuid not null,
  step text not null default 'COLLECT' check (step in ('COLLECT', 'FIRST', 'SECOND', 'DONE')),
  reached uuid, -- the last resource that the step has handled; null before the first
  deleted bigint not null default 0,
  restored bigint not null default 0,
  kept bigint not null default 0,
  kept_rows json not null default '[]', -- the first 100: [{key, reason}]
  stepped_at timestamptz not null default now(),
  primary key (workspace_id, import_id)
);

create index undone_import_age on undone_import (stepped_at);

-- The resources of an import that is being undone, with what all its batches changed. Rows that are handled are deleted.
create table undone_change (
  workspace_id uuid not null,
  import_id uuid not null,
  id uuid not null, -- of the resource
  key text not null, -- what rows of the template call it
  former jsonb, -- the values that the import found, by name; null when it created the resource
  version text, -- of the resource as the import left it; null when somebody changed it between two batches
  primary key (workspace_id, import_id, id),
  foreign key (workspace_id, import_id) references undone_import on delete cascade
);

call enable_workspace_rls('imported_batch', 'undone_import', 'undone_change');
call grant_worker('select, delete', 'imported_batch', 'undone_import');
