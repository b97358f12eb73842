-- Replaces the functions of number_slugs (0008): a name such as 'Shirt 999999999' used to take all numbers of the family 'shirt', so
-- that no third shirt got a slug. `highest` is now the highest number after which a thousand numbers are free (decision 002). That is
-- the highest of all in every other family. A batch of an import has at most 500 rows.
create or replace procedure number_slugs(relation text, slug_column text) language plpgsql as $$
begin
  execute format(
    $statement$
      create or replace function %1$I(workspace uuid, lock_prefix text, slugs text[])
      returns table (slug text, "isTaken" boolean, highest integer) language plpgsql as $function$
      declare
        wanted text;
        locked text;
        up_to integer;
      begin
        foreach wanted in array slugs loop
          locked := pg_advisory_xact_lock(hashtextextended(lock_prefix || wanted, 0));
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
