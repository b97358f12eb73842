-- without a transaction
-- For what ends and deletes the rows of no day once their 30 days are over.
drop index concurrently if exists event_far_occurred_at;
create index concurrently event_far_occurred_at on event_far (occurred_at);
drop index concurrently if exists delivery_far_created_at;
create index concurrently delivery_far_created_at on delivery_far (created_at);
drop index concurrently if exists event_default_occurred_at;
create index concurrently event_default_occurred_at on event_default (occurred_at);
drop index concurrently if exists delivery_default_created_at;
create index concurrently delivery_default_created_at on delivery_default (created_at);
