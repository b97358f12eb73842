-- One-time links to the pages of an installation, and the sessions of browsers that opened one. Links and cookies are signed; the
-- rows alone open nothing.

create table page_link (
  workspace_id uuid not null references workspace,
  id uuid not null, -- UUIDv4
  installation_id uuid not null, -- in the service apps
  provider text not null, -- a part of the page's path
  page text not null check (page in ('consent', 'embed')),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (workspace_id, id)
);

create table page_session (
  workspace_id uuid not null references workspace,
  id uuid not null, -- UUIDv4
  installation_id uuid not null,
  page text not null check (page in ('consent', 'embed')),
  expires_at timestamptz not null,
  primary key (workspace_id, id)
);

call enable_workspace_rls('page_link', 'page_session');
