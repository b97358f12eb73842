set local lock_timeout = '5s';

alter table call add column traceparent text; -- of the request that has caused it

-- Measurements read the calls that are due, whatever their app.
create index call_due_at on call (due_at);
