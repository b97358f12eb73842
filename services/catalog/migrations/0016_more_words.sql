-- Words by which products are found beside name_words, whose function stays as it is: rows and old replicas have its words (OP-220).

-- What is written apart and may be searched together (`O'Neil`: oneil), and the ends of words without spaces between them (`東京会社`: 京会社,
-- 会社, 社), since a search is for beginnings. At most 100 of each.
create function more_words_of(name text) returns text language sql immutable parallel safe
return case
  when name ~ '^[A-Za-z0-9 ]*$' then ''
  else (
    select coalesce(string_agg(word, ' '), '')
    from (
      (
        select replace(folded, ' ', '') as word
        from regexp_split_to_table(name, '[[:space:]]+') as part, fold_words(part) as folded
        where folded like '% %' limit 100
      )
      union all
      (
        -- Thai, Lao, Burmese, Khmer, Chinese and Japanese.
        select substr(folded, place)
        from string_to_table(fold_words(name), ' ') as folded, generate_series(2, length(folded)) as place
        where octet_length(name) > length(name) and substr(folded, place, 1)
          ~ '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF]'
        limit 100
      )
    ) as more
  )
end;

alter table product
  add column more_words text collate "C" not null default '',
  add column words_version smallint; -- null: more_words is still to be written; a worker does

create function write_more_words() returns trigger language plpgsql as $$
begin
  new.more_words := more_words_of(new.name);
  new.words_version := 1;
  return new;
end
$$;

create trigger more_words_of_products before insert or update of name, words_version on product
  for each row execute function write_more_words();

create or replace function keep_product_lists() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with word as (
      insert into product_word (workspace_id, word, product_id, previous)
      select workspace_id, word, id, previous from after, words_of(name_words || ' ' || more_words)
    )
    insert into product_count (workspace_id, status, type, change)
    select workspace_id, status, type, count(*) from after group by workspace_id, status, type;
  elsif tg_op = 'DELETE' then
    with word as (
      delete from product_word where ctid = any(array(
        select found.ctid
        from before
        cross join lateral words_of(before.name_words || ' ' || before.more_words) as former
        cross join lateral (
          select product_word.ctid from product_word
          where workspace_id = before.workspace_id and product_word.word = former.word and product_id = before.id
          offset 0
        ) as found
      ))
    )
    insert into product_count (workspace_id, status, type, change)
    select workspace_id, status, type, -count(*) from before group by workspace_id, status, type;
  else
    if old.name_words <> new.name_words or old.more_words <> new.more_words then
      with former as materialized (
        select word, previous from words_of(old.name_words || ' ' || old.more_words)
      ), present as materialized (
        select word, previous from words_of(new.name_words || ' ' || new.more_words)
      ), removed as (
        delete from product_word
        where workspace_id = old.workspace_id and product_id = old.id
          and word = any(array(select word from former except select word from present))
      )
      insert into product_word (workspace_id, word, product_id, previous)
      select new.workspace_id, word, new.id, previous from (table present except table former) as changed
      on conflict (workspace_id, word, product_id) do update set previous = excluded.previous;
    end if;
    if (old.status, old.type) <> (new.status, new.type) then
      insert into product_count (workspace_id, status, type, change)
      values (old.workspace_id, old.status, old.type, -1), (new.workspace_id, new.status, new.type, 1);
    end if;
  end if;
  return null;
end
$$;

create or replace trigger lists_of_changed_products after update on product
  for each row when (
    old.name_words <> new.name_words or old.more_words <> new.more_words or old.status <> new.status or old.type <> new.type
  ) execute function keep_product_lists();

call grant_worker('select (workspace_id, words_version)', 'product');
