-- Categories and tags as resources of their own: their order in lists, numbered slugs, and changes of a category that
-- products' bodies show.

-- As for products (0001): the next free suffix of a slug is one index look-up away.
alter table category
  add column slug_stem text not null generated always as (regexp_replace(slug, '-\d{1,9}$', '')) stored,
  add column slug_number integer not null generated always as (coalesce(substring(slug from '-(\d{1,9})$')::integer, 1)) stored;

create index category_slug_family on category (workspace_id, slug_stem, slug_number);
create index category_order on category (workspace_id, position, name, id);
create index category_children on category (workspace_id, parent_id, position, name, id);

-- A column and not an expression in the index: behind row level security only leakproof operators can use one. In the
-- collation "C" the names that begin with a prefix are one range.
alter table tag add column folded_name text collate "C" not null generated always as (lower(name) collate "C") stored;

create index tag_order on tag (workspace_id, folded_name, id);

-- When what products show of a category (its name, slug, parent or parent's slug) changed last, and on whose behalf.
create table category_change (
  workspace_id uuid not null,
  category_id uuid not null,
  livemode boolean not null,
  traceparent text not null,
  changed_at timestamptz not null,
  primary key (workspace_id, category_id),
  foreign key (workspace_id, category_id) references category on delete cascade
);

call wall_off('category_change');

-- A change of a category locks it for update and asks for its members to be published anew. A product that joins at that
-- moment is no member yet and has read the category as it was: its foreign key check waits for the change, and then this
-- asks for it. No change of a category lasts five minutes: its statements end after 120 s, pauses between them after 30 s.
create function refresh_joining_products() returns trigger language plpgsql as $$
begin
  insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
  select distinct workspace_id, product_id, false, livemode, traceparent
  from joined join category_change using (workspace_id, category_id)
  where changed_at > transaction_timestamp() - interval '5 minutes';
  return null;
end
$$;

create trigger products_joining after insert on product_category
  referencing new table as joined for each statement execute function refresh_joining_products();
