-- Workspaces, their settings and API keys, and the record of what operators did.
--
-- One rule says which role does what. `gateway` writes, inside the one workspace that a change concerns (app.workspace_id),
-- as the app role of every service. `gateway_worker` only reads, and across workspaces: it finds the key of a request,
-- whose workspace nobody knows yet, and fills the operators' lists.

create table workspace (
  id uuid primary key,
  parent uuid not null references workspace, -- the live workspace: a sandbox names the one it belongs to, a live one itself
  livemode boolean not null generated always as (id = parent) stored,
  name text not null check (length(name) between 1 and 255),
  domain text check (length(domain) between 1 and 253),
  created_at timestamptz not null,
  unique (parent, livemode) -- a live workspace has one sandbox at most
);

create table settings (
  workspace_id uuid primary key references workspace,
  product_statuses text[] check (
    cardinality(product_statuses) > 0 and product_statuses <@ array['ACTIVE', 'HIDDEN', 'ARCHIVED']
  ), -- null: all of them (OP-13)
  rate_limit_per_second integer check (rate_limit_per_second > 0),
  rate_limit_burst integer check (rate_limit_burst > 0),
  check ((rate_limit_per_second is null) = (rate_limit_burst is null)) -- both null: the deployment's limit (OP-06)
);

create table api_key (
  workspace_id uuid not null references workspace,
  id uuid primary key, -- readable in the key itself
  key_hash bytea not null unique check (octet_length(key_hash) = 32), -- SHA-256; the key is kept nowhere
  name text not null check (length(name) between 1 and 255),
  scopes text[] not null check (cardinality(scopes) > 0),
  kind text not null default 'workspace' check (kind in ('workspace', 'app')),
  created_at timestamptz not null,
  revoked_at timestamptz -- from when on it is refused: ahead of now while the overlap of a rotation lasts
);

create index api_key_of_workspace on api_key (workspace_id, id);

create table audit (
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspace,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  request_id text not null
);

-- What replicas remember about a workspace's keys is dropped as soon as this is announced, whatever made the change.
create function announce_workspace_change() returns trigger
  language plpgsql as $$
begin
  perform pg_notify('gateway_workspace_changed', new.workspace_id::text);
  return null;
end
$$;

create trigger announce after update on api_key for each row execute function announce_workspace_change();
create trigger announce after insert or update on settings for each row execute function announce_workspace_change();

alter table workspace enable row level security;
alter table workspace force row level security;
create policy workspace on workspace
  using (nullif(current_setting('app.workspace_id', true), '')::uuid in (id, parent));

call wall_off('settings', 'api_key', 'audit');
call let_worker('select', 'workspace', 'settings', 'api_key', 'audit');

-- Nothing here is ever deleted, and what has been done stays as it was written.
revoke delete on workspace, settings, api_key, audit from gateway;
revoke update on workspace, audit from gateway;
