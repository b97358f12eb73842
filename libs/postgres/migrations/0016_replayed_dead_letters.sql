-- The dead letters that were sent to their topic again, by the topic, partition and offset of the record: none is sent twice.
create table replayed_dead_letter (
  consumer text not null, -- the consumer group, such as webhook-delivery.fan-out
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  replayed_at timestamptz not null default now(),
  primary key (consumer, topic, partition, "offset")
);

alter table replayed_dead_letter enable row level security;
alter table replayed_dead_letter force row level security;
call grant_worker('select, insert', 'replayed_dead_letter');
