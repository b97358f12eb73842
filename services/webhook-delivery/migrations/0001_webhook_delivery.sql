-- Where events are sent (OP-60).
create table endpoint (
  workspace_id uuid not null,
  id uuid not null,
  url text not null,
  enabled_events text[] not null, -- {*} is every event
  description text,
  secret_key_id text not null, -- which key of WEBHOOK_SECRET_KEYS sealed the secret
  sealed_secret bytea not null, -- AES-256-GCM: nonce, ciphertext, tag
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

-- Counts the changes of a workspace's endpoints: a reader that kept them sees by one number whether they still hold.
create table endpoint_set (
  workspace_id uuid primary key,
  version bigint not null
);

-- Events that at least one endpoint gets, each stored once whatever the number of its deliveries.
create table event (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  key text not null, -- what the event is about: first attempts about one thing keep their order (OP-74)
  body text not null, -- the envelope exactly as it is signed and sent (OP-61)
  occurred_at timestamptz not null,
  primary key (workspace_id, id)
);

-- One event on its way to one endpoint; the row is the job. No foreign keys: each insert would lock its endpoint's row.
create table delivery (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  id uuid not null, -- UUIDv7: the primary key lists an endpoint's deliveries by age
  event_id uuid not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts_made integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  delivered_at timestamptz,
  claimed_by integer, -- the claimer whose advisory lock is its sign of life
  lease_until timestamptz, -- frees the claim of a claimer that lives but does not work
  primary key (workspace_id, endpoint_id, id),
  unique (event_id, endpoint_id),
  check ((status = 'PENDING') = (next_attempt_at is not null)),
  check ((claimed_by is null) = (lease_until is null))
);

-- A queue per endpoint, so that what waits for one endpoint costs nothing when others are asked for. A row is in one of
-- the two indexes or in none: a first attempt sent from memory never enters the first.
create index delivery_ready on delivery (endpoint_id, next_attempt_at, id) where status = 'PENDING' and claimed_by is null;
create index delivery_claimed on delivery (claimed_by) where claimed_by is not null;

-- Every attempt, as it went (OP-66). The request body is the event's.
create table attempt (
  workspace_id uuid not null,
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  request_url text not null,
  request_headers json not null,
  response_status smallint, -- null: no response came
  response_headers json,
  response_body bytea, -- the first 16 KiB
  response_truncated boolean,
  error_class text, -- null: delivered
  error_message text,
  primary key (workspace_id, delivery_id, number)
);

-- Numbers the lives of dispatchers.
create sequence claimer as integer;

call wall_off('endpoint', 'endpoint_set', 'event', 'delivery', 'attempt');

-- Fan-out and dispatcher work across workspaces.
call let_worker('select', 'endpoint', 'endpoint_set');
call let_worker('select, insert', 'event');
call let_worker('select, insert, update', 'delivery');
call let_worker('insert', 'attempt');
grant usage on sequence claimer to webhook_delivery_worker;
