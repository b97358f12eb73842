-- A renamed product gives up only the words that its new name lacks, and gets only those that are new. Each word is looked up by its
-- key: PostgreSQL expects a thousand rows of `words_of`, and in a join with it would read the words of all workspaces.
create or replace function keep_product_lists() returns trigger language plpgsql as $$
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
      delete from product_word where ctid = any(array(
        select found.ctid
        from before
        cross join lateral words_of(before.name_words) as former
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
    if old.name_words <> new.name_words then
      with former as materialized (
        select word, previous from words_of(old.name_words)
      ), present as materialized (
        select word, previous from words_of(new.name_words)
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
