set local lock_timeout = '5s';

-- The last twenty origins, newest last: a sandbox may give its draft another one as often as it likes (OP-227).
create or replace function note_move() returns trigger language plpgsql as $$
declare
  former text[] := array_append(array_remove(old.former_origins, new.origin), old.origin);
begin
  new.former_origins := former[greatest(cardinality(former) - 19, 1):];
  new.swept_to := '00000000-0000-0000-0000-000000000000';
  return new;
end
$$;

-- blocks: the platform and its sandboxes have few apps, so the table has few rows.
call backfill($$
  update app set former_origins = former_origins[cardinality(former_origins) - 19:] where cardinality(former_origins) > 20
$$, 'app');
