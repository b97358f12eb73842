-- No customer is there yet: the table is of the same release.

-- Filters compare stored columns: behind row level security no index on an expression is used, since lower() is not leakproof.
drop index customer_email;
alter table customer add column email_key text collate "C" generated always as (lower(email collate "C")) stored;
create unique index customer_email on customer (workspace_id, email_key);

-- A text's words as the search and the order by name know them, as in catalog: without case and accents, separated by single spaces.
create function fold_words(value text) returns text language sql immutable parallel safe
return trim(regexp_replace(
  casefold(
    case
      when octet_length(value) = length(value) then value
      else normalize(regexp_replace(normalize(value, nfkd), '[\u0300-\u036f]+', '', 'g'), nfc)
    end collate pg_unicode_fast
  ) collate pg_c_utf8,
  '[[:space:][:punct:][:cntrl:]]+', ' ', 'g'
));

alter table customer
  -- Cut, since one letter can become 18 and an index takes 2,700 bytes.
  add column name_words text collate "C" not null generated always as (
    left(fold_words(firstname || coalesce(' ' || lastname, '')), 255) collate "C"
  ) stored,
  add column search_words text collate "C" not null generated always as (
    fold_words(firstname || coalesce(' ' || lastname, '') || coalesce(' ' || email, '')) collate "C"
  ) stored;

-- Sorted by createdAt, a list is in the order of ids, which are made in the order of time (UUIDv7).
create index customer_by_update on customer (workspace_id, updated_at, id);
create index customer_by_name on customer (workspace_id, name_words, id);

-- The words of customers' names and e-mail addresses. Not a GIN index, for the reason in catalog: text search is not leakproof.
create table customer_word (
  workspace_id uuid not null,
  word text collate "C" not null,
  customer_id uuid not null,
  previous text collate "C" not null, -- the word before it in the customer's alphabetical order, or ''
  -- Of a customer's words with one prefix, only the first has a previous word without it: so a search finds a customer once.
  primary key (workspace_id, word, customer_id) include (previous)
);

create function words_of(folded text) returns table (word text, previous text) language sql immutable parallel safe as $$
  select word, lag(word, 1, '') over (order by word)
  from (
    select distinct left(part, 64) collate "C" as word from string_to_table(folded, ' ') as part where part <> ''
  ) as distinct_word
$$;

-- How many customers there are with each beginning of a word, so that a search for `com` does not count a million words.
-- A stem is a word cut to 4 or to 12 characters; the stem '' of the level 0 stands for all customers.
create table customer_count (
  workspace_id uuid not null,
  level smallint not null, -- 0, 4 or 12: the length that words are cut to
  stem text collate "C" not null,
  shared smallint not null, -- the number of first characters that the customer's stem before it has too
  change bigint not null
);

-- A customer counts for a prefix with the first of his stems that has it: the one that shares less than the prefix.
create function stems_of(folded text) returns table (level smallint, stem text, shared smallint)
language sql immutable parallel safe as $$
  select 0::smallint, '' collate "C", 0::smallint
  union all
  select level, stem, (
    select count(*) from generate_series(1, least(length(stem), length(previous))) as n
    where starts_with(previous, left(stem, n))
  )::smallint
  from (
    select level, stem, lag(stem, 1, '') over (partition by level order by stem) as previous
    from (
      select distinct level, left(word, level) collate "C" as stem
      from words_of(folded), unnest('{4,12}'::smallint[]) as level
    ) as distinct_stem
  ) as sorted
$$;

create function keep_customer_lists() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with word as (
      insert into customer_word (workspace_id, word, customer_id, previous)
      select workspace_id, word, id, previous from after, words_of(search_words)
    )
    insert into customer_count (workspace_id, level, stem, shared, change)
    select workspace_id, level, stem, shared, count(*) from after, stems_of(search_words)
    group by workspace_id, level, stem, shared;
  elsif tg_op = 'DELETE' then
    with word as (
      delete from customer_word using before, words_of(before.search_words) as former
      where customer_word.workspace_id = before.workspace_id and customer_word.word = former.word
        and customer_word.customer_id = before.id
    )
    insert into customer_count (workspace_id, level, stem, shared, change)
    select workspace_id, level, stem, shared, -count(*) from before, stems_of(search_words)
    group by workspace_id, level, stem, shared;
  else
    delete from customer_word using words_of(old.search_words) as former
    where workspace_id = old.workspace_id and customer_word.word = former.word and customer_id = old.id;
    insert into customer_word (workspace_id, word, customer_id, previous)
    select new.workspace_id, word, new.id, previous from words_of(new.search_words);
    insert into customer_count (workspace_id, level, stem, shared, change)
    select new.workspace_id, level, stem, shared, sum(change)
    from (
      select *, -1 as change from stems_of(old.search_words)
      union all
      select *, 1 from stems_of(new.search_words)
    ) as stem
    group by level, stem, shared having sum(change) <> 0;
  end if;
  return null;
end
$$;

create trigger lists_of_new_customers after insert on customer
  referencing new table as after for each statement execute function keep_customer_lists();
create trigger lists_of_deleted_customers after delete on customer
  referencing old table as before for each statement execute function keep_customer_lists();
create trigger lists_of_changed_customers after update on customer
  for each row when (old.search_words <> new.search_words) execute function keep_customer_lists();

-- Customers that were deleted. A worker removes their personal data from orders and stored answers, and the row stays as the record.
create table customer_erasure (
  workspace_id uuid not null,
  id uuid not null, -- the customer's
  stage text not null check (stage in (
    'ORDERS', -- some of his orders may have personal data
    'ANSWERS', -- some answers to an Idempotency-Key may have personal data
    'DONE'
  )),
  answers_after text not null default '', -- the last Idempotency-Key that ANSWERS has looked at
  created_at timestamptz not null,
  done_at timestamptz,
  primary key (workspace_id, id)
);

create index customer_erasure_open on customer_erasure (workspace_id, stage, id) where stage <> 'DONE';

-- When the personal data of the order was removed, since its customer was erased. Answers stored before may still have it.
alter table sales_order add column erased_at timestamptz;

call merge_changes_of('customer_count', 'change', 'workspace_id', 'level', 'stem', 'shared');

-- A stem that no customer has any more may be the name of an erased one.
create function delete_empty_count() returns trigger language plpgsql as $$
begin
  delete from customer_count
  where workspace_id = new.workspace_id and level = new.level and stem = new.stem and shared = new.shared
    and is_sum and change = 0;
  return null;
end
$$;

create trigger empty_customer_counts after update on customer_count
  for each row when (new.is_sum and new.change = 0) execute function delete_empty_count();

call enable_workspace_rls('customer_word', 'customer_count', 'customer_erasure');
call grant_worker('select, insert, update, delete', 'customer_count');
call grant_worker('select', 'customer_erasure');
