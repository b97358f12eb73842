set local lock_timeout = '5s';

-- Sessions of support: for half an hour an operator reads in one workspace, by a token that the gateway takes like a key.
create table support_session (
  workspace_id uuid not null references workspace,
  id uuid primary key, -- readable in the token itself
  token_hash bytea not null unique check (octet_length(token_hash) = 32), -- SHA-256; the token is stored nowhere
  operator text not null,
  reason text check (length(reason) between 1 and 255),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at <= created_at + interval '30 minutes'),
  ended_at timestamptz -- from when on it is refused, if that is before it expires
);

create index support_session_of_workspace on support_session (workspace_id, id);
create index support_session_of_operator on support_session (operator, expires_at);
call enable_workspace_rls('support_session');
call grant_worker('select, update (ended_at)', 'support_session');

create trigger announce after update on support_session for each row execute function announce_workspace_change();

-- Of a request of such a session, and why it writes.
alter table audit add column session_id uuid;
alter table audit add column reason text;
