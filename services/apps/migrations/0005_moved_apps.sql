set local lock_timeout = '5s';

-- Where the app was before: endpoints made there follow it (OP-227).
alter table app add column former_origins text[] not null default '{}';
-- The last of the app's installations that has what the app's latest change brings; null: all have it.
alter table app add column swept_to uuid;

-- A trigger, so that it holds for replicas of the version before as well.
create function note_move() returns trigger language plpgsql as $$
begin
  new.former_origins := array_append(array_remove(old.former_origins, new.origin), old.origin);
  new.swept_to := '00000000-0000-0000-0000-000000000000';
  return new;
end
$$;
create trigger note_move before update of origin on app for each row when (old.origin <> new.origin) execute function note_move();

-- blocks: a workspace has few apps, so the table has few rows.
create index installation_by_app on installation (app_id, id);
