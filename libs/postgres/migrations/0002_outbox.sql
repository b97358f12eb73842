-- Records waiting for Kafka, written in the transaction of the change they tell of and published in the order of `id`.
create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  topic text not null,
  key text not null,
  type text not null,
  workspace_id uuid not null,
  livemode boolean not null,
  payload json, -- null is a tombstone on a compacted topic; json, not jsonb: members keep their order
  traceparent text not null,
  occurred_at timestamptz not null,
  published_at timestamptz,
  refused text -- why it can never be published; set aside until an operator clears this
);

create index outbox_unpublished on outbox (id) where published_at is null and refused is null;
create index outbox_published on outbox (published_at) where published_at is not null;

call wall_off('outbox');
call let_worker('select, update, delete', 'outbox'); -- the relay
