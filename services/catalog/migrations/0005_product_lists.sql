-- What lists of products are read from: an order for each sort, an index for each filter, the words of names, and counts.

-- A text's words as the search for names and their order know them: without case and accents, separated by single spaces.
-- Cut to 255 characters, since one letter can become 18 and an index takes 2,700 bytes. ASCII takes a short cut, which costs
-- half as much.
create function fold_words(value text) returns text language sql immutable parallel safe
return left(trim(regexp_replace(
  casefold(
    case
      when octet_length(value) = length(value) then value
      else normalize(regexp_replace(normalize(value, nfkd), '[\u0300-\u036f]+', '', 'g'), nfc)
    end collate pg_unicode_fast
  ) collate pg_c_utf8,
  '[[:space:][:punct:][:cntrl:]]+', ' ', 'g'
)), 255);

alter table product
  add column name_words text collate "C" not null generated always as (fold_words(name) collate "C") stored;

-- Sorted by createdAt, a list is in the order of ids, which are made in the order of time (UUIDv7): the primary key is its
-- index, and a category's or tag's members are in that order too.
create index product_by_status on product (workspace_id, status, type, id);
create index product_by_update on product (workspace_id, updated_at, id);
create index product_by_name on product (workspace_id, name_words, id);

drop index product_category_members;
drop index product_tag_members;
create index product_category_members on product_category (workspace_id, category_id, product_id);
create index product_tag_members on product_tag (workspace_id, tag_id, product_id);

-- The words of products' names. Not a GIN index: behind row level security only leakproof operators can use an index, which
-- comparisons of text are and text search's are not.
create table product_word (
  workspace_id uuid not null,
  word text collate "C" not null,
  product_id uuid not null,
  previous text collate "C" not null, -- the word before it in the same name's alphabetical order, or ''
  -- Of a name's words with one prefix, only the first has a previous word without it: so a search finds a product once.
  primary key (workspace_id, word, product_id) include (previous)
);

call wall_off('product_word');

create function words_of(name_words text) returns table (word text, previous text) language sql immutable parallel safe as $$
  select word, lag(word, 1, '') over (order by word)
  from (
    select distinct left(part, 64) collate "C" as word from string_to_table(name_words, ' ') as part where part <> ''
  ) as distinct_word
$$;

-- How many products there are of each status and type: the sum of changes. Each change is a row of its own, so that no
-- transaction waits for the count of another; now and then a workspace's rows become one for each status and type.
create table product_count (
  workspace_id uuid not null,
  id bigint generated always as identity,
  status text not null,
  type text not null,
  change bigint not null,
  primary key (workspace_id, id)
);

call wall_off('product_count');

-- For the workspace that the transaction is in. Leaves rows alone that another transaction is adding up.
create function add_up_product_counts() returns void language plpgsql as $$
declare
  workspace uuid := nullif(current_setting('app.workspace_id', true), '')::uuid;
begin
  with addend as (
    delete from product_count where workspace_id = workspace and id in (
      select id from product_count where workspace_id = workspace for update skip locked
    )
    returning status, type, change
  )
  insert into product_count (workspace_id, status, type, change)
  select workspace, status, type, sum(change) from addend group by status, type having sum(change) <> 0;
end
$$;

create function keep_product_lists() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with word as (
      insert into product_word (workspace_id, word, product_id, previous)
      select workspace_id, word, id, previous from after, words_of(name_words)
    )
    insert into product_count (workspace_id, status, type, change)
    select workspace_id, status, type, count(*) from after group by workspace_id, status, type;
  elsif tg_op = 'DELETE' then
    with word as (
      delete from product_word using before, words_of(before.name_words) as former
      where product_word.workspace_id = before.workspace_id and product_word.word = former.word
        and product_word.product_id = before.id
    )
    insert into product_count (workspace_id, status, type, change)
    select workspace_id, status, type, -count(*) from before group by workspace_id, status, type;
  else
    if old.name_words <> new.name_words then
      delete from product_word using words_of(old.name_words) as former
      where workspace_id = old.workspace_id and product_word.word = former.word and product_id = old.id;
      insert into product_word (workspace_id, word, product_id, previous)
      select new.workspace_id, word, new.id, previous from words_of(new.name_words);
    end if;
    if (old.status, old.type) <> (new.status, new.type) then
      insert into product_count (workspace_id, status, type, change)
      values (old.workspace_id, old.status, old.type, -1), (new.workspace_id, new.status, new.type, 1);
    end if;
  end if;
  if random() < 0.01 then
    perform add_up_product_counts();
  end if;
  return null;
end
$$;

create trigger lists_of_new_products after insert on product
  referencing new table as after for each statement execute function keep_product_lists();
create trigger lists_of_deleted_products after delete on product
  referencing old table as before for each statement execute function keep_product_lists();
-- Row by row, so that the many updates that change none of these cost nothing.
create trigger lists_of_changed_products after update on product
  for each row when (
    old.name_words <> new.name_words or old.status <> new.status or old.type <> new.type
  ) execute function keep_product_lists();

-- What was there before. The owner sees all workspaces' rows for this once.
alter table product no force row level security;
alter table product_word no force row level security;
alter table product_count no force row level security;
insert into product_word (workspace_id, word, product_id, previous)
select workspace_id, word, id, previous from product, words_of(name_words) order by workspace_id, word, id;
insert into product_count (workspace_id, status, type, change)
select workspace_id, status, type, count(*) from product group by workspace_id, status, type;
alter table product force row level security;
alter table product_word force row level security;
alter table product_count force row level security;
