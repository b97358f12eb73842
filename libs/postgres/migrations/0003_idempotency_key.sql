-- First successful answers of writes sent with an Idempotency-Key, kept 24 h (OP-08).
create table idempotency_key (
  workspace_id uuid not null,
  key text not null,
  fingerprint text not null, -- SHA-256 of method, path and body
  status smallint,
  body json, -- null for an answer that holds a secret
  resource text, -- what was made, named when a secret answer cannot be replayed
  created_at timestamptz not null default now(),
  primary key (workspace_id, key)
);

create index idempotency_key_age on idempotency_key (created_at);

call wall_off('idempotency_key');
call let_worker('select, delete', 'idempotency_key'); -- what expires them
