-- Registered apps. They belong to the platform, not to a workspace.
create table app (
  id uuid primary key, -- UUIDv7
  provider text not null unique, -- from the manifest; never changed
  origin text not null,
  manifest jsonb not null,
  version integer not null default 1, -- counts the manifests
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- An app in a workspace.
create table installation (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7
  app_id uuid not null references app,
  livemode boolean not null,
  workspace_name text not null, -- for session tokens (OP-83)
  workspace_domain text,
  state text not null check (state in ('PENDING', 'ACTIVE', 'FAILED', 'UNINSTALLED')),
  manifest jsonb, -- as the merchant consented to it: its scopes and webhooks are in force
  requested_manifest jsonb, -- waits for the merchant's consent
  key_id uuid, -- the key that the app has acknowledged
  endpoint_id uuid, -- its webhook endpoint
  last_error text, -- of the last call to the app
  created_at timestamptz not null,
  consented_at timestamptz,
  activated_at timestamptz,
  uninstalled_at timestamptz,
  primary key (workspace_id, id)
);

-- A workspace has an app once.
create unique index installation_of_app on installation (workspace_id, app_id) where state in ('PENDING', 'ACTIVE');
-- Operators name an installation without its workspace.
create unique index installation_by_id on installation (id);

-- A call that an app has not acknowledged yet. It is deleted with its secrets when the app acknowledges it.
create table call (
  workspace_id uuid not null,
  installation_id uuid not null,
  app_id uuid not null references app,
  kind text not null check (kind in ('provision', 'uninstall')),
  manifest jsonb, -- of a provision: what the merchant consented to
  -- What a provision delivers. Every attempt delivers the same.
  key_id uuid,
  key_secret bytea, -- sealed: the random part of the key
  endpoint_id uuid,
  webhook_secret bytea, -- sealed
  sealed_with text, -- the id of the key that sealed both
  -- What the app had before: revoked and deleted once it acknowledges the new key, or when it is uninstalled.
  former_key_id uuid,
  former_endpoint_id uuid,
  reason text, -- of an uninstall
  access_ended_at timestamptz, -- of an uninstall: its key is revoked and its endpoint deleted
  attempts integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '24 hours', -- OP-81, OP-84
  claim uuid, -- the replica's attempt under way
  claimed_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, installation_id),
  foreign key (workspace_id, installation_id) references installation (workspace_id, id) on delete cascade,
  check (kind <> 'provision' or (manifest is not null and key_id is not null)),
  check ((key_id is null) = (key_secret is null)),
  check ((endpoint_id is null) = (webhook_secret is null)),
  check ((key_id is null) = (sealed_with is null))
);

create index call_due on call (app_id, due_at);
create index call_claimed on call (app_id) where claimed_until is not null;
create index call_with_access on call (due_at) where kind = 'uninstall' and access_ended_at is null;

call enable_workspace_rls('installation', 'call');
-- The worker chooses among the calls of all workspaces and acts on one as the app role. Operators read installations by their id.
call grant_worker('select', 'app', 'installation');
call grant_worker('select, update', 'call');
