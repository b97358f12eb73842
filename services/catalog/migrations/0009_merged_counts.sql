-- A worker merges the changes of product_count, and no longer the transactions that write products.
call merge_changes_of('product_count', 'change', 'workspace_id', 'status', 'type');
call grant_worker('select, insert, update, delete', 'product_count');

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
  return null;
end
$$;

drop function add_up_product_counts();
