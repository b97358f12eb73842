create table collection (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7: lists are in its order, newest first
  handle text collate "C" not null,
  -- A derived handle that is taken gets its family's next number (decision 002).
  handle_stem text collate "C" not null generated always as (regexp_replace(handle, '-\d{1,9}$', '')) stored,
  handle_number integer not null generated always as (coalesce(substring(handle from '-(\d{1,9})$')::integer, 1)) stored,
  name text not null,
  description text,
  image_id uuid, -- the catalog's asset
  image_path text, -- under the assets' base URL, as its thumbnail
  image_thumbnail_path text,
  seo_title text,
  seo_description text,
  sort_order text not null
    check (sort_order in ('MANUAL', 'TITLE_ASC', 'TITLE_DESC', 'CREATED_ASC', 'CREATED_DESC', 'STOCK_DESC')),
  membership_type text not null check (membership_type in ('MANUAL', 'SMART')),
  rules json, -- OP-30; kept while the collection is MANUAL
  next_position bigint not null default 0, -- of the next hand-picked member
  published boolean not null,
  publish_at timestamptz,
  unpublish_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  constraint collection_handle unique (workspace_id, handle),
  check (membership_type = 'MANUAL' or rules is not null),
  check (unpublish_at > publish_at)
);

create index collection_handle_family on collection (workspace_id, handle_stem, handle_number);
create index collection_published on collection (workspace_id, id) where published;

-- A collection's membership is written as a whole, beside the one that is shown, whenever its rules, its type or its order change; the
-- numbers only grow. Each collection has one generation that is CURRENT. Generations outlive their collection until their members
-- are deleted. A new collection has no CURRENT one until its first is built.
create table generation (
  workspace_id uuid not null,
  collection_id uuid not null,
  number integer not null,
  source text not null check (source in ('PICKED', 'RULES')),
  rules json, -- of RULES
  sort_order text not null,
  state text not null check (state in (
    'BUILDING', -- its members are being collected: up to built_to, in the order of product ids
    'CURRENT', -- what is shown
    'KEPT', -- the hand-picked members of a collection that is SMART now
    'OLD' -- its members are being deleted
  )),
  built_to uuid, -- null before the first and after the last
  primary key (workspace_id, collection_id, number),
  check (source = 'PICKED' or rules is not null)
);

create unique index generation_building on generation (workspace_id, collection_id) where state = 'BUILDING';
create unique index generation_current on generation (workspace_id, collection_id) where state = 'CURRENT';
create unique index generation_kept on generation (workspace_id, collection_id) where state = 'KEPT';
create index generation_to_work_on on generation (state, workspace_id, collection_id) where state in ('BUILDING', 'OLD');

-- Counts the changes of a workspace's generations: who keeps compiled rules sees by one number whether they still hold.
create table rule_set (
  workspace_id uuid primary key,
  version bigint not null
);

-- No foreign keys: a collection's members may be millions, and are deleted after it. Whoever writes members shares the workspace's
-- membership lock (membership-lock.ts), which whoever builds a generation has alone.
create table member (
  workspace_id uuid not null,
  collection_id uuid not null,
  generation integer not null,
  product_id uuid not null,
  position bigint not null, -- hand-picked members' (OP-34); 0 of others
  tie integer not null default 0, -- orders those of one position
  sort_key text collate "C" not null, -- what the generation is ordered by, as sort_key() says
  is_available boolean not null, -- the storefront shows the product (OP-20)
  primary key (workspace_id, collection_id, generation, product_id)
);

create index member_order on member (workspace_id, collection_id, generation, sort_key, product_id) where is_available;
create index member_of_product on member (workspace_id, product_id);

-- A member's place in a generation's order, ascending: text that sorts as what it is made of, or against it where the order is
-- descending. Equal keys go by product id (OP-35). All that is called is immutable, as convert_to and an epoch of timestamptz are
-- not: only then a query takes the expression in, which costs a tenth of the call.
create function sort_key(
  sort_order text, name text, created_at timestamptz, stock bigint, member_position bigint, tie integer
) returns text language sql immutable parallel safe
return case sort_order
  when 'MANUAL' then lpad(member_position::text, 16, '0') || lpad(tie::text, 10, '0')
  when 'TITLE_ASC' then left(name, 255)
  when 'TITLE_DESC'
    then translate(encode(replace(left(name, 255), E'\\', E'\\\\')::bytea, 'hex'), '0123456789abcdef', 'fedcba9876543210') || 'g'
  when 'CREATED_ASC' then (1000000000000000 + (extract(epoch from created_at at time zone 'UTC') * 1000)::bigint)::text
  when 'CREATED_DESC' then (2000000000000000 - (extract(epoch from created_at at time zone 'UTC') * 1000)::bigint)::text
  when 'STOCK_DESC' then (20000000000000000 - stock)::text -- always 17 digits: stock may be below 0
end;

-- How many members of a generation the storefront shows. Transactions that change one count at once do so in different shards.
create table member_count (
  workspace_id uuid not null,
  collection_id uuid not null,
  generation integer not null,
  shard integer not null,
  available bigint not null, -- can be negative: only the sum of the shards tells
  primary key (workspace_id, collection_id, generation, shard)
) with (fillfactor = 50);

-- A function for each kind of change, whose plan is kept: planned anew each time, counting costs more than what it counts.
do $$
declare
  kind text;
  changes text;
begin
  for kind, changes in values
    ('count_added', 'select *, 1 as change from added'),
    ('count_changed', 'select *, 1 as change from added union all select *, -1 from removed'),
    ('count_removed', 'select *, -1 as change from removed')
  loop
    -- In the order of the key, so that two who count in the same shard do not wait for each other in a circle. Who changes members
    -- with several statements, as the projection does, names a shard of its own.
    execute format(
      $create$
        create function %I() returns trigger language plpgsql as $body$
        begin
          insert into member_count as known (workspace_id, collection_id, generation, shard, available)
          select workspace_id, collection_id, generation,
            coalesce(nullif(current_setting('app.count_shard', true), '')::integer, pg_backend_pid() %% 8), sum(change)
          from (%s) as changed
          where is_available
          group by 1, 2, 3 having sum(change) <> 0
          order by 1, 2, 3
          on conflict (workspace_id, collection_id, generation, shard)
          do update set available = known.available + excluded.available;
          return null;
        end
        $body$
      $create$,
      kind, changes
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

call wall_off('collection', 'generation', 'rule_set', 'member', 'member_count');

-- The projection and the builder work across workspaces.
call let_worker('select', 'collection');
call let_worker('select, insert, update', 'rule_set');
call let_worker('select, insert, update, delete', 'generation', 'member', 'member_count');
