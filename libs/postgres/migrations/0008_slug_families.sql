-- Makes a function that locks families of a table's slugs until the transaction ends and then reads them: 'shirt', 'shirt-2' and
-- 'shirt-12' are one (decision 002). The table has the generated columns <slug_column>_stem and <slug_column>_number. Each statement
-- of a function has a snapshot of its own: a read sees what was committed while the function waited for the locks.
create procedure number_slugs(relation text, slug_column text) language plpgsql as $$
begin
  execute format(
    $statement$
      create function %1$I(workspace uuid, lock_prefix text, slugs text[])
      returns table (slug text, "isTaken" boolean, highest integer) language plpgsql as $function$
      declare
        wanted text;
        locked text;
      begin
        foreach wanted in array slugs loop
          locked := pg_advisory_xact_lock(hashtextextended(lock_prefix || wanted, 0));
        end loop;
        foreach wanted in array slugs loop
          slug := wanted;
          "isTaken" := exists (select from %2$I as taken where taken.workspace_id = workspace and taken.%3$I = wanted);
          highest := coalesce(
            (select max(%5$I) from %2$I as family where family.workspace_id = workspace and family.%4$I = wanted), 1
          );
          return next;
        end loop;
      end
      $function$
    $statement$,
    relation || '_slug_families', relation, slug_column, slug_column || '_stem', slug_column || '_number'
  );
end
$$;
