-- The files of what validation found. 0 for imports of before and for those that an old replica validates during a deploy.
alter table import add column findings_bytes bigint not null default 0 check (findings_bytes between 0 and 9007199254740991);

-- The bytes of a workspace's stored files. One row, not a row for each change: its lock makes two uploads at the limit wait for each other.
create table stored_bytes (
  workspace_id uuid primary key,
  bytes bigint not null check (bytes between 0 and 9007199254740991)
);
call enable_workspace_rls('stored_bytes');

create function add_stored_bytes() returns trigger language plpgsql as $$
begin
  insert into stored_bytes as known (workspace_id, bytes)
  select workspace_id, sum(bytes + findings_bytes) from after group by workspace_id
  on conflict (workspace_id) do update set bytes = known.bytes + excluded.bytes;
  return null;
end
$$;

-- The deletion of a workspace may have deleted its row before.
create function subtract_stored_bytes() returns trigger language plpgsql as $$
begin
  update stored_bytes set bytes = greatest(stored_bytes.bytes - removed.bytes, 0)
  from (select workspace_id, sum(bytes + findings_bytes) as bytes from before group by workspace_id) as removed
  where stored_bytes.workspace_id = removed.workspace_id;
  return null;
end
$$;

create function change_stored_bytes() returns trigger language plpgsql as $$
begin
  update stored_bytes set bytes = greatest(bytes + new.findings_bytes - old.findings_bytes, 0)
  where workspace_id = new.workspace_id;
  return null;
end
$$;

create trigger add_stored_bytes after insert on import
referencing new table as after for each statement execute function add_stored_bytes();
create trigger subtract_stored_bytes after delete on import
referencing old table as before for each statement execute function subtract_stored_bytes();
-- By row: the other updates of an import, which come with each batch, do not run it.
create trigger change_stored_bytes after update of findings_bytes on import
for each row when (old.findings_bytes <> new.findings_bytes) execute function change_stored_bytes();

call backfill(
  $$ insert into stored_bytes (workspace_id, bytes) select workspace_id, sum(bytes) from import group by workspace_id $$,
  'import', 'stored_bytes'
);
