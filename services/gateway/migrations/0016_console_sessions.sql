set local lock_timeout = '5s';

-- Sessions of browsers in the console, by a token that the gateway takes like a key, from a cookie alone. One of a key ends with that
-- key and has its scopes; one of a link has its own; one of an operator has no workspace.
create table console_session (
  id uuid primary key, -- readable in the token itself
  workspace_id uuid references workspace,
  token_hash bytea not null unique check (octet_length(token_hash) = 32), -- SHA-256; the token is stored nowhere
  api_key_id uuid,
  scopes text[] check (cardinality(scopes) > 0),
  operator text,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null check (expires_at <= created_at + interval '8 hours'),
  check (num_nonnulls(api_key_id, scopes, operator) = 1),
  check ((workspace_id is null) = (operator is not null))
);

create index console_session_of_workspace on console_session (workspace_id, id);
call enable_workspace_rls('console_session');
call grant_worker('select, insert, update (last_used_at), delete', 'console_session');

-- A session is ended by the deletion of its row.
create or replace function announce_workspace_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('gateway_workspace_changed', coalesce(new.workspace_id, old.workspace_id)::text);
  return null;
end
$$;
create trigger announce after delete on console_session for each row
  when (old.workspace_id is not null) execute function announce_workspace_change();

-- A link to the console has no installation, but what its session may do: scopes, or what support may, in an operator's name.
alter table page_link alter column installation_id drop not null;
alter table page_link alter column provider drop not null;
alter table page_link add column scopes text[];
alter table page_link add column operator text;
alter table page_link add column reason text;
alter table page_link drop constraint page_link_page_check;
alter table page_link add constraint page_link_page_check check (page in ('consent', 'embed', 'console')) not valid;
alter table page_link add constraint page_link_target check (
  case page when 'console' then num_nonnulls(scopes, operator) = 1 else num_nonnulls(installation_id, provider) = 2 end
) not valid;
