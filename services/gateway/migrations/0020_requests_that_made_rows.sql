set local lock_timeout = '5s';

-- The operator and the Idempotency-Key that made the row (OP-301): sent again, it makes no second one.
alter table workspace add column request_key text;
alter table api_key add column request_key text;
-- blocks: all values are null, so that it takes no longer than to read the table once
create unique index workspace_of_request on workspace (request_key) where request_key is not null;
-- blocks: as above
create unique index api_key_of_request on api_key (request_key) where request_key is not null;
