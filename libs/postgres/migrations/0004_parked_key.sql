-- Keys whose record a consumer could not process: later records of such a key follow it to the dead-letter topic, so that
-- nothing overtakes. Belongs to no workspace: consumers read topics that carry them all.
create table parked_key (
  consumer text not null, -- the consumer group, such as webhook-delivery.fan-out
  topic text not null,
  key text not null,
  reason text not null,
  parked_at timestamptz not null default now(),
  primary key (consumer, topic, key)
);

alter table parked_key enable row level security;
alter table parked_key force row level security;
call let_worker('select, insert, update, delete', 'parked_key');
