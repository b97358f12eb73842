-- Replaces the functions of number_slugs (0013): each family had a lock of its own, so that one request with tens of thousands of names
-- filled the lock table of the whole server. The families of a prefix share 64 locks now. A lock's key has been the hash of another text
-- until now: a request that meets one of the version before chooses its slug again (decision 003).
create or replace procedure number_slugs(relation text, slug_column text) language plpgsql as $$
begin
  execute format(
    $statement$
      create or replace function %1$I(workspace uuid, lock_prefix text, slugs text[])
      returns table (slug text, "isTaken" boolean, highest integer) language plpgsql as $function$
      declare
        wanted text;
        lock_number integer;
        locked text;
        up_to integer;
      begin
        for lock_number in
          select distinct (hashtextextended(given, 0) & 63)::integer from unnest(slugs) as given order by 1
        loop
          locked := pg_advisory_xact_lock(hashtextextended(lock_prefix || lock_number, 0));
        end loop;
        foreach wanted in array slugs loop
          slug := wanted;
          "isTaken" := exists (select from %2$I as taken where taken.workspace_id = workspace and taken.%3$I = wanted);
          up_to := 999999999 - 1000;
          loop
            highest := (
              select max(%5$I) from %2$I as family
              where family.workspace_id = workspace and family.%4$I = wanted and family.%5$I <= up_to
            );
            exit when highest is null or not exists (
              select from %2$I as family
              where family.workspace_id = workspace and family.%4$I = wanted
                and family.%5$I > highest and family.%5$I <= highest + 1000
            );
            up_to := highest - 1;
          end loop;
          highest := coalesce(highest, 1);
          return next;
        end loop;
      end
      $function$
    $statement$,
    relation || '_slug_families', relation, slug_column, slug_column || '_stem', slug_column || '_number'
  );
end
$$;

-- The functions that the services' migrations have made before.
do $$
declare
  numbered record;
begin
  for numbered in
    select relname, left(attname, -length('_stem')) as slug_column
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and attname like '%\_stem' and not attisdropped
      and exists (
        select from pg_proc where pronamespace = current_schema()::regnamespace and proname = relname || '_slug_families'
      )
  loop
    call number_slugs(numbered.relname, numbered.slug_column);
  end loop;
end
$$;
