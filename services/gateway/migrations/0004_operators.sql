-- Operators by name, and an audit log that names them and has acts that concern no single workspace.
--
-- Operators belong to no workspace, so the worker role writes their tokens, and the acts on them. The app role still sees and
-- writes acts of its own workspace only: an act without a workspace is in none.

create table operator_token (
  id uuid primary key, -- readable in the token itself
  name text not null check (length(name) between 1 and 255), -- the operator's; the audit log has it
  replaces uuid unique references operator_token, -- the token before a rotation; null for an operator's first
  token_hash bytea not null unique check (octet_length(token_hash) = 32), -- SHA-256; the token is stored nowhere
  created_at timestamptz not null,
  last_used_at timestamptz, -- at most a minute old
  revoked_at timestamptz -- from when on it is refused: ahead of now while the overlap of a rotation lasts
);

-- A name stands for one operator for ever, since the audit log has nothing else of them.
create unique index operator_name on operator_token (lower(name)) where replaces is null;

create function announce_operator_change() returns trigger
  language plpgsql as $$
begin
  perform pg_notify('gateway_operators_changed', '');
  return null;
end
$$;

create trigger announce after insert or update of revoked_at on operator_token
  for each row execute function announce_operator_change();

alter table operator_token enable row level security;
alter table operator_token force row level security;
call grant_worker('select, insert, update', 'operator_token');
revoke all on operator_token from gateway;

alter table audit alter column workspace_id drop not null;
grant insert on audit to gateway_worker;

create index audit_newest on audit (at desc, id desc);
create index audit_of_workspace on audit (workspace_id, at desc, id desc);
create index audit_of_actor on audit (actor, at desc, id desc);
