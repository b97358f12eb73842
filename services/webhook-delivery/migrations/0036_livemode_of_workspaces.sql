-- Whether a workspace is a live one: events about its endpoints say so. Null until its endpoints change.
set local lock_timeout = '5s';
alter table endpoint_set add column livemode boolean;
