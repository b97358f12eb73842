-- Counts kept by triggers. A trigger only inserts the change, so no transaction waits for another one; merge-counts.ts merges changes
-- into a sum for each key. A count is the sum of `amount` over all rows of a key. This prepares a table for merging: it adds the column
-- `is_sum`, indexes, and the function merge_<table>(batch_size), for the worker role.
create procedure merge_changes_of(counts text, amount text, variadic keys text[]) language plpgsql as $$
declare
  key text := (select string_agg(quote_ident(name), ', ') from unnest(keys) as name);
begin
  execute format('alter table %I add column is_sum boolean not null default false', counts);
  execute format('create unique index %I on %I (%s) where is_sum', counts || '_sum', counts, key);
  execute format('create index %I on %I (%s) where not is_sum', counts || '_change', counts, key);
  -- Returns the number of changes merged. One transaction at a time; another one merges nothing.
  execute format(
    $create$
      create function %1$I(batch_size integer) returns bigint language plpgsql as $body$
      declare
        merged bigint := 0;
      begin
        if pg_try_advisory_xact_lock(hashtextextended('merge %2$s ' || current_schema(), 0)) then
          with change as (
            delete from %2$I where ctid = any(array(select ctid from %2$I where not is_sum limit batch_size))
            returning %3$s, %4$I
          ),
          summed as (
            insert into %2$I as known (%3$s, %4$I, is_sum)
            select %3$s, sum(%4$I), true from change group by %3$s having sum(%4$I) <> 0
            on conflict (%3$s) where is_sum do update set %4$I = known.%4$I + excluded.%4$I
          )
          select count(*) into merged from change;
        end if;
        return merged;
      end
      $body$
    $create$,
    'merge_' || counts, counts, key, amount
  );
end
$$;
