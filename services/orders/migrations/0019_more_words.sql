-- Words by which customers are found beside search_words, whose function stays as it is: rows and old replicas have its words (OP-220).

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

-- The digits of a phone number from each of them on. An international one also begins with 0 in place of its country code, and with 00.
create function phone_words_of(phone text) returns text language sql immutable parallel safe
return (
  select coalesce(string_agg(word, ' '), '')
  from (
    select is_international, left(case when is_international then ltrim(digits, '0') else digits end, 15) as digits
    from normalize(phone, nfkc) as written,
      regexp_replace(replace(written, '(0)', ''), '[^0-9]+', '', 'g') as digits,
      regexp_like(written, '^[^0-9]*(\+|00)') as is_international
  ) as number cross join lateral (
    select substr(digits, place) as word from generate_series(1, length(digits) - 1) as place
    union all
    select '0' || substr(digits, place) from generate_series(2, 4) as place where is_international and length(digits) > 6
    union all
    select '00' || digits where is_international
  ) as digit_word
);

alter table customer
  add column more_words text collate "C" not null default '',
  add column words_version smallint; -- null: more_words is still to be written; a worker does

create function write_more_words() returns trigger language plpgsql as $$
begin
  new.more_words := trim(more_words_of(new.firstname || coalesce(' ' || new.lastname, '')) || ' ' || phone_words_of(new.phone));
  new.words_version := 1;
  return new;
end
$$;

create trigger more_words_of_customers before insert or update of firstname, lastname, phone, words_version on customer
  for each row execute function write_more_words();

create or replace function keep_customer_lists() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with word as (
      insert into customer_word (workspace_id, word, customer_id, previous)
      select workspace_id, word, id, previous from after, words_of(search_words || ' ' || more_words)
    )
    insert into customer_count (workspace_id, level, stem, shared, change)
    select workspace_id, level, stem, shared, count(*) from after, stems_of(search_words || ' ' || more_words)
    group by workspace_id, level, stem, shared;
  elsif tg_op = 'DELETE' then
    with word as (
      delete from customer_word using before, words_of(before.search_words || ' ' || before.more_words) as former
      where customer_word.workspace_id = before.workspace_id and customer_word.word = former.word
        and customer_word.customer_id = before.id
    )
    insert into customer_count (workspace_id, level, stem, shared, change)
    select workspace_id, level, stem, shared, -count(*) from before, stems_of(search_words || ' ' || more_words)
    group by workspace_id, level, stem, shared;
  else
    delete from customer_word using words_of(old.search_words || ' ' || old.more_words) as former
    where workspace_id = old.workspace_id and customer_word.word = former.word and customer_id = old.id;
    insert into customer_word (workspace_id, word, customer_id, previous)
    select new.workspace_id, word, new.id, previous from words_of(new.search_words || ' ' || new.more_words);
    insert into customer_count (workspace_id, level, stem, shared, change)
    select new.workspace_id, level, stem, shared, sum(change)
    from (
      select *, -1 as change from stems_of(old.search_words || ' ' || old.more_words)
      union all
      select *, 1 from stems_of(new.search_words || ' ' || new.more_words)
    ) as stem
    group by level, stem, shared having sum(change) <> 0;
  end if;
  return null;
end
$$;

create or replace trigger lists_of_changed_customers after update on customer
  for each row when (old.search_words <> new.search_words or old.more_words <> new.more_words) execute function keep_customer_lists();

call grant_worker('select (workspace_id, words_version)', 'customer');
