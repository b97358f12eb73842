-- A row whose record does not fit the registry's schema has `refused` and `retry_at`: the relay tries it again then. After an hour it
-- waits for an operator, as one does that Kafka never takes: then `retry_at` is null. Rows behind it of the same topic and key wait too.
set local lock_timeout = '5s';

alter table outbox
  add column held_since timestamptz,
  add column retry_at timestamptz,
  add column overtaken boolean not null default false; -- a later record of its key was published: order would be lost

-- Few rows, since most are never refused.
create index outbox_refused on outbox (topic, key, id) where refused is not null;
