-- Finds the events of a resource (OP-249). After this migration it is built for each partition, beside writers.
create index event_of_resource on only event (workspace_id, key, id);

-- A recovery of some deliveries only (OP-251): those of these types, created before `until`, which is no longer its start. Replicas of the
-- version before write `until` alone, as the start: it is later than a `started_at` that a former recovery has left.
alter table recovery
  add column started_at timestamptz,
  add column event_types text[]; -- null: all; holds while started_at is not before `until`
