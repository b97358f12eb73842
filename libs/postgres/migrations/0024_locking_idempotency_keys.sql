-- What deletes expired keys passes over those that a request has locked. `for update skip locked` needs the right to
-- update a column.
set local lock_timeout = '5s';

do $$
begin
  execute format('grant update (created_at) on idempotency_key to %I', current_schema() || '_worker');
end
$$;
