-- Versions before 0022 wrote `until` alone, as the start, and no types. Every replica has written `started_at` since.
set local lock_timeout = '5s';
-- blocks: an endpoint has one recovery, so few rows are here
call backfill($$
  update recovery set started_at = until, event_types = null where started_at is null or started_at < until
$$, 'recovery');
