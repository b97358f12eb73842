set local lock_timeout = '5s';

-- The sandbox whose draft the app is (OP-286); null for an app of the platform. Another name than `workspace_id`, which would be ambiguous where
-- replicas of the version before join installations.
alter table app add column sandbox_id uuid;
-- blocks: the platform and its sandboxes have few apps, so the table has few rows.
create index app_of_sandbox on app (sandbox_id, id);

-- A workspace sees the apps of the platform and its own drafts, and writes its drafts alone; the nil UUID is the platform, which operators act
-- for. `using` lets a workspace lock an app of the platform, which an installation does.
alter table app enable row level security;
alter table app force row level security;
create policy platform on app
  using (sandbox_id is null or nullif(current_setting('app.workspace_id', true), '')::uuid in (sandbox_id, '00000000-0000-0000-0000-000000000000'))
  with check (nullif(current_setting('app.workspace_id', true), '')::uuid in (sandbox_id, '00000000-0000-0000-0000-000000000000'));

-- The names of a draft have its sandbox in them, and end with it: no token for them goes to anybody else.
create function free_names() returns trigger language plpgsql as $$
begin
  delete from app_name where app_id = old.id;
  return null;
end
$$;
create trigger free_names after delete on app for each row when (old.sandbox_id is not null) execute function free_names();
