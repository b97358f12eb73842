-- New names; the old ones stay callable, since released migrations call them.
alter procedure wall_off rename to enable_workspace_rls;
alter procedure let_worker rename to grant_worker;

create procedure wall_off(variadic tables text[]) language plpgsql as $$
begin
  call enable_workspace_rls(variadic tables);
end
$$;

create procedure let_worker(privileges text, variadic tables text[]) language plpgsql as $$
begin
  call grant_worker(privileges, variadic tables);
end
$$;

-- Runs a statement of a migration on the rows of all workspaces. The owner of these tables is exempt from their row level security
-- meanwhile; no other session sees that, since the exemption ends in the same transaction.
create procedure backfill(statement text, variadic tables text[]) language plpgsql as $$
declare
  name text;
begin
  foreach name in array tables
  loop
    execute format('alter table %I no force row level security', name);
  end loop;
  execute statement;
  foreach name in array tables
  loop
    execute format('alter table %I force row level security', name);
  end loop;
end
$$;
