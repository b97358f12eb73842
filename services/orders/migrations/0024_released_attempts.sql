-- Reservations of failed attempts to place an order, paid or not, that catalog may still hold (OP-47, OP-136).
create table released_attempt (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  released_at timestamptz not null default now(),
  primary key (workspace_id, order_id, id)
);
create index released_attempt_age on released_attempt (workspace_id, released_at);

call enable_workspace_rls('released_attempt');

-- A trigger, since replicas of the version before write them to `placement.released` alone. The column goes in a later version.
create function copy_released() returns trigger language plpgsql as $$
begin
  insert into released_attempt (workspace_id, order_id, id)
  select new.workspace_id, new.order_id, unnest(new.released)
  on conflict do nothing;
  return null;
end
$$;
create trigger copy_released after insert or update of released on placement for each row
  when (new.released <> '{}') execute function copy_released();
-- blocks: the placements of paid orders wait for a moment
call backfill($$ update placement set released = released where released <> '{}' $$, 'placement', 'released_attempt');
