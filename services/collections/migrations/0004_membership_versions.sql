-- Renames the tables of memberships to the field's terms: a generation is a membership version, a KEPT one is SAVED, an OLD one is
-- RETIRED. The old names stay as views until a later migration, so that replicas of the version before go on working. Nothing is
-- copied.
alter table generation no force row level security;

alter table generation rename to membership_version;
alter table membership_version rename column built_to to processed_to; -- the last product built into it, or deleted from it
alter sequence generation_number owned by membership_version.number; -- replicas of the version before call it by its name
alter table membership_version drop constraint generation_state_check, drop constraint generation_source_check,
  drop constraint generation_check;
alter table membership_version rename constraint generation_pkey to membership_version_pkey;
drop index generation_building, generation_current, generation_kept, generation_to_work_on;
alter index generation_of_collection rename to membership_version_of_collection;

update membership_version set
  source = case source when 'PICKED' then 'HAND_PICKED' else source end,
  state = case state when 'KEPT' then 'SAVED' when 'OLD' then 'RETIRED' else state end
where source = 'PICKED' or state = 'OLD';

alter table membership_version
  add constraint membership_version_source check (source in ('HAND_PICKED', 'RULES')),
  add constraint membership_version_rules check (source = 'HAND_PICKED' or rules is not null),
  add constraint membership_version_state check (state in (
    'BUILDING', -- has the members up to the product processed_to, in the order of product ids; null before the first
    'CURRENT', -- is shown
    'SAVED', -- has the hand-picked members of a collection that is SMART now
    'RETIRED' -- its members are being deleted; those up to processed_to are gone
  ));

create unique index membership_version_building on membership_version (workspace_id, collection_id) where state = 'BUILDING';
create unique index membership_version_current on membership_version (workspace_id, collection_id) where state = 'CURRENT';
create unique index membership_version_saved on membership_version (workspace_id, collection_id) where state = 'SAVED';
create index membership_version_to_work_on on membership_version (state, workspace_id, collection_id)
  where state in ('BUILDING', 'RETIRED');

alter table membership_version force row level security;

alter table rule_set rename to rule_version; -- the version of a workspace's rules: of the versions that are BUILDING or CURRENT
alter table rule_version rename constraint rule_set_pkey to rule_version_pkey;

alter table member rename to collection_member;
alter table collection_member rename column generation to version_number;
alter table collection_member rename column tie to tie_breaker;
alter table collection_member rename constraint member_pkey to collection_member_pkey;
alter index member_order rename to collection_member_order;
alter index member_of_product rename to collection_member_of_product;

alter table member_count rename to collection_member_count;
alter table collection_member_count rename column generation to version_number;
alter table collection_member_count rename constraint member_count_pkey to collection_member_count_pkey;

-- The functions of 0003, by the new names.
do $$
declare
  kind text;
  change text;
  changes text;
begin
  for kind, change, changes in values
    ('count_added', 'count(*)', 'added'),
    ('count_changed', 'sum(change)', '(select *, 1 as change from added union all select *, -1 from removed) as changed'),
    ('count_removed', '-count(*)', 'removed')
  loop
    -- In the order of the key, so that two transactions that count in the same shard do not deadlock. A transaction that changes
    -- members with several statements, such as the projection's, names a shard of its own.
    execute format(
      $create$
        create or replace function %1$I() returns trigger language plpgsql as $body$
        begin
          insert into collection_member_count as known (workspace_id, version_number, shard, available)
          select workspace_id, version_number,
            coalesce(nullif(current_setting('app.count_shard', true), '')::integer, pg_backend_pid() %% 8), %2$s
          from %3$s
          where is_available
          group by workspace_id, version_number having %2$s <> 0
          order by version_number
          on conflict (version_number, shard) do update set available = known.available + excluded.available;
          return null;
        end
        $body$
      $create$,
      kind, change, changes
    );
  end loop;
end
$$;

-- The old names, for replicas of the version before. Only the first needs a trigger: its words differ too.
create view generation with (security_invoker = true) as
select workspace_id, collection_id, number, case source when 'HAND_PICKED' then 'PICKED' else source end as source, rules, sort_order,
  case state when 'SAVED' then 'KEPT' when 'RETIRED' then 'OLD' else state end as state, processed_to as built_to
from membership_version;

alter view generation alter column number set default nextval('generation_number');

create function write_generation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from membership_version where number = old.number;
    return old;
  end if;
  new.source := case new.source when 'PICKED' then 'HAND_PICKED' else new.source end;
  new.state := case new.state when 'KEPT' then 'SAVED' when 'OLD' then 'RETIRED' else new.state end;
  if tg_op = 'INSERT' then
    insert into membership_version (workspace_id, collection_id, number, source, rules, sort_order, state, processed_to)
    values (new.workspace_id, new.collection_id, new.number, new.source, new.rules, new.sort_order, new.state, new.built_to);
  else
    update membership_version set state = new.state, processed_to = new.built_to where number = new.number;
  end if;
  return new;
end
$$;

create trigger write_generation instead of insert or update or delete on generation
  for each row execute function write_generation();

create view rule_set with (security_invoker = true) as select workspace_id, version from rule_version;

create view member with (security_invoker = true) as
select workspace_id, version_number as generation, product_id, position, tie_breaker as tie, sort_key, is_available
from collection_member;

create view member_count with (security_invoker = true) as
select workspace_id, version_number as generation, shard, available from collection_member_count;

grant select, insert, update on rule_set to collections_worker;
grant select, insert, update, delete on generation, member, member_count to collections_worker;
