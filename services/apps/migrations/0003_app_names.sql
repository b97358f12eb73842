set local lock_timeout = '5s';

-- The names by which tokens address apps (OP-225): an app's provider and its audience. A name is one app's for ever, also after the app has
-- another audience or is deleted: tokens with the name may be valid still.
create table app_name (
  name text primary key,
  app_id uuid not null
);

-- A trigger, so that it holds for replicas of the version before as well.
create function claim_names() returns trigger language plpgsql as $$
begin
  insert into app_name (name, app_id)
  select distinct name, new.id
  from unnest(array[new.provider, new.manifest ->> 'audience']) as wanted (name)
  where name is not null
    and not exists (select from app_name where app_name.name = wanted.name and app_name.app_id = new.id);
  return null;
end
$$;
create trigger claim_names after insert or update of manifest on app for each row execute function claim_names();

-- Apps may share a name by now: it is the provider of one, else it is the oldest one's. `check-apps` names the others.
insert into app_name (name, app_id) select provider, id from app;
insert into app_name (name, app_id)
select manifest ->> 'audience', id from app where manifest ? 'audience' order by created_at, id
on conflict do nothing;

call grant_worker('select', 'app_name');
