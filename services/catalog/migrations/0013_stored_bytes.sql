-- Null for assets of before and for those that an old replica stores during a deploy: they have a thumbnail of unknown size.
alter table asset add column thumbnail_size bigint check (thumbnail_size between 1 and 9007199254740991);

-- The bytes of a workspace's stored files. One row, not a row for each change: its lock makes two uploads at the limit wait for each other.
create table stored_bytes (
  workspace_id uuid primary key,
  bytes bigint not null check (bytes between 0 and 9007199254740991)
);
call enable_workspace_rls('stored_bytes');

create function add_stored_bytes() returns trigger language plpgsql as $$
begin
  insert into stored_bytes as known (workspace_id, bytes)
  select workspace_id, sum(size + coalesce(thumbnail_size, 0)) from after group by workspace_id
  on conflict (workspace_id) do update set bytes = known.bytes + excluded.bytes;
  return null;
end
$$;

-- The deletion of a workspace may have deleted its row before.
create function subtract_stored_bytes() returns trigger language plpgsql as $$
begin
  update stored_bytes set bytes = greatest(bytes - removed.size, 0)
  from (
    select workspace_id, sum(size + coalesce(thumbnail_size, 0)) as size from before group by workspace_id
  ) as removed
  where stored_bytes.workspace_id = removed.workspace_id;
  return null;
end
$$;

create trigger add_stored_bytes after insert on asset
referencing new table as after for each statement execute function add_stored_bytes();
create trigger subtract_stored_bytes after delete on asset
referencing old table as before for each statement execute function subtract_stored_bytes();

call backfill(
  $$ insert into stored_bytes (workspace_id, bytes) select workspace_id, sum(size) from asset group by workspace_id $$,
  'asset', 'stored_bytes'
);
