-- A note of a replay that is older than the dead letter at its place is of another record, and is deleted.
set local lock_timeout = '5s';

do $$
begin
  execute format('grant delete on replayed_dead_letter to %I', current_schema() || '_worker');
end
$$;
