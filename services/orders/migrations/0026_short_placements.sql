set local lock_timeout = '5s';

-- When an attempt to place the paid order first found the stock short (OP-47).
alter table placement add column short_since timestamptz;
