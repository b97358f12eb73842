set local lock_timeout = '5s';

-- The Idempotency-Key of the request that is placing an order (OP-08): sent again meanwhile, it finds its own stock short.
alter table reservation add column idempotency_key text;
