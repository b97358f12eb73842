-- Shows a table's rows only inside their workspace: to every role that is not named in another policy of the table, and to
-- the owner as well.
create procedure wall_off(variadic tables text[]) language plpgsql as $$
declare
  name text;
begin
  foreach name in array tables
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      $policy$create policy workspace on %I using (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid)$policy$,
      name
    );
  end loop;
end
$$;

-- Lets the schema's worker role, which works across workspaces, do these things with a table: 'select, update'.
create procedure let_worker(privileges text, variadic tables text[]) language plpgsql as $$
declare
  name text;
begin
  foreach name in array tables
  loop
    execute format('create policy worker on %I to %I using (true)', name, current_schema() || '_worker');
    execute format('grant %s on %I to %I', privileges, name, current_schema() || '_worker');
  end loop;
end
$$;
