-- A change of members only inserts a row into collection_member_count; a worker merges the rows of each membership version. That
-- replaces the shards, which transactions shared. Replicas of the version before go on working: they only sum and delete the rows.
drop view member_count;
alter table collection_member_count drop column shard, reset (fillfactor);
create index collection_member_count_version on collection_member_count (version_number);
call merge_changes_of('collection_member_count', 'available', 'workspace_id', 'version_number');

create view member_count with (security_invoker = true) as
select workspace_id, version_number as generation, available from collection_member_count;
grant select, insert, update, delete on member_count to collections_worker;

create or replace function count_added() returns trigger language plpgsql as $$
begin
  insert into collection_member_count (workspace_id, version_number, available)
  select workspace_id, version_number, count(*) from added where is_available group by workspace_id, version_number;
  return null;
end
$$;

create or replace function count_changed() returns trigger language plpgsql as $$
begin
  insert into collection_member_count (workspace_id, version_number, available)
  select workspace_id, version_number, sum(change)
  from (select *, 1 as change from added union all select *, -1 from removed) as changed
  where is_available
  group by workspace_id, version_number having sum(change) <> 0;
  return null;
end
$$;

create or replace function count_removed() returns trigger language plpgsql as $$
begin
  insert into collection_member_count (workspace_id, version_number, available)
  select workspace_id, version_number, -count(*) from removed where is_available group by workspace_id, version_number;
  return null;
end
$$;

-- The counts of a membership version are deleted with it, at the end of the transaction: replicas of the version before delete them in
-- the same statement. The lock is that of merge_collection_member_count: a merge in progress could write another sum.
create function delete_counts() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('merge collection_member_count ' || current_schema(), 0));
  delete from collection_member_count where version_number = old.number;
  return null;
end
$$;

create constraint trigger counts_deleted after delete on membership_version
  deferrable initially deferred for each row execute function delete_counts();
