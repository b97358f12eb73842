-- The apps that are or were installed in a workspace, as the service apps says (OP-231). A row stays when the app is uninstalled: a request
-- with one of its keys that is under way then makes no endpoint.
create table app_installation (
  workspace_id uuid not null,
  id uuid not null,
  provider text not null,
  ended_at timestamptz, -- by the clock of this service, as resumed_at
  suspension_changed_at timestamptz, -- by the clock of apps: an older request changes nothing
  resumed_at timestamptz, -- null while it is suspended
  primary key (workspace_id, id)
);

-- The keys that the gateway has made for an installation.
create table app_key (
  workspace_id uuid not null,
  id text not null, -- as in endpoint.made_by
  installation_id uuid not null,
  primary key (workspace_id, id)
);

create index app_key_of_installation on app_key (workspace_id, installation_id);

call enable_workspace_rls('app_installation', 'app_key');
call grant_worker('select', 'app_installation', 'app_key');

-- The id of the key that has made it; of an app's key that was rotated the first one's. Null: made by apps, or before this column.
alter table endpoint add column made_by text;
