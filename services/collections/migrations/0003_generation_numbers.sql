-- Generations are numbered over all collections, and a member's key is the number and the product: a new generation is written at the end
-- of the primary key, page after page, and with short keys a million members cost a third less. The members are copied, which holds
-- writers back meanwhile. Replicas of the version before cannot read members or make generations from then on.
create sequence generation_number;
grant usage on sequence generation_number to collections, collections_worker;

alter table generation no force row level security;
alter table member no force row level security;

-- What is OLD need not be copied. What is being built is built anew: now it has the members up to built_to, and no others.
delete from generation where state = 'OLD';
update generation set built_to = null where state = 'BUILDING';

alter table generation drop constraint generation_pkey;
alter table generation rename column number to number_before;
alter table generation add column number bigint not null default nextval('generation_number') primary key;
create index generation_of_collection on generation (workspace_id, collection_id);

alter table member rename to member_before;
alter table member_before drop constraint member_pkey;
drop index member_order, member_of_product;
drop trigger count_added on member_before;
drop trigger count_changed on member_before;
drop trigger count_removed on member_before;
drop table member_count;

-- No foreign keys: a collection's members may be millions, and are deleted after it. Whoever writes members shares the workspace's
-- membership lock (membership-lock.ts), which whoever builds a generation has alone.
create table member (
  workspace_id uuid not null, -- the generation's: for the wall
  generation bigint not null,
  product_id uuid not null,
  position bigint not null, -- hand-picked members' (OP-34); 0 of others
  tie integer not null default 0, -- orders those of one position
  sort_key text collate "C" not null, -- what the generation is ordered by, as sort_key() says
  is_available boolean not null, -- the storefront shows the product (OP-20)
  primary key (generation, product_id)
);

-- Includes what the wall asks for, so that pages far down pass over members in the index alone.
create index member_order on member (generation, sort_key, product_id) include (workspace_id) where is_available;
create index member_of_product on member (product_id);

-- How many members of a generation the storefront shows. Transactions that change one count at once do so in different shards.
create table member_count (
  workspace_id uuid not null,
  generation bigint not null,
  shard integer not null,
  available bigint not null, -- can be negative: only the sum of the shards tells
  primary key (generation, shard)
) with (fillfactor = 50);

-- A function for each kind of change, whose plan is kept: planned anew each time, counting costs more than what it counts. What is
-- added is only counted: summing costs a new generation a tenth more.
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
    -- In the order of the key, so that two who count in the same shard do not wait for each other in a circle. Who changes members
    -- with several statements, as the projection does, names a shard of its own.
    execute format(
      $create$
        create or replace function %1$I() returns trigger language plpgsql as $body$
        begin
          insert into member_count as known (workspace_id, generation, shard, available)
          select workspace_id, generation,
            coalesce(nullif(current_setting('app.count_shard', true), '')::integer, pg_backend_pid() %% 8), %2$s
          from %3$s
          where is_available
          group by workspace_id, generation having %2$s <> 0
          order by generation
          on conflict (generation, shard) do update set available = known.available + excluded.available;
          return null;
        end
        $body$
      $create$,
      kind, change, changes
    );
  end loop;
end
$$;

create trigger count_added after insert on member
  referencing new table as added for each statement execute function count_added();
create trigger count_changed after update on member
  referencing old table as removed new table as added for each statement execute function count_changed();
create trigger count_removed after delete on member
  referencing old table as removed for each statement execute function count_removed();

insert into member (workspace_id, generation, product_id, position, tie, sort_key, is_available)
select member_before.workspace_id, generation.number, product_id, position, tie, sort_key, is_available
from member_before join generation on generation.workspace_id = member_before.workspace_id
  and generation.collection_id = member_before.collection_id and generation.number_before = member_before.generation
where generation.state <> 'BUILDING'
order by generation.number, product_id;

drop table member_before;
alter table generation drop column number_before;
alter table generation force row level security;

-- Who keeps compiled rules keeps them by the generations' numbers.
alter table rule_set no force row level security;
update rule_set set version = version + 1;
alter table rule_set force row level security;

call wall_off('member', 'member_count');
call let_worker('select, insert, update, delete', 'member', 'member_count');
