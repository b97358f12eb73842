-- A second signature per delivery, for libraries that read base64 only (OP-62).
alter table endpoint add column standard_signature boolean not null default false;

-- Secrets that a rotation replaced, each signing on beside the current one until its overlap ends (OP-63).
create table previous_secret (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  id uuid not null,
  secret_key_id text not null, -- as in endpoint
  sealed_secret bytea not null,
  ends_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references endpoint on delete cascade
);

create index previous_secret_of_endpoint on previous_secret (workspace_id, endpoint_id);

call wall_off('previous_secret');

-- Fan-out and dispatcher read all secrets; resealing them replaces what seals them and nothing else.
call let_worker('select, update (secret_key_id, sealed_secret)', 'previous_secret');
grant update (secret_key_id, sealed_secret) on endpoint to webhook_delivery_worker;
