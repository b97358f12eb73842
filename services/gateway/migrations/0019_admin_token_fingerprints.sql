set local lock_timeout = '5s';

-- Of the ADMIN_TOKEN when an operator made the row: what `bootstrap` made with another one is over. Null where a replica of the version before
-- made it: a link of that lasts a day at most, and a session of support half an hour. That of `bootstrap` in the console is over at once.
alter table page_link add column fingerprint bytea;
alter table support_session add column fingerprint bytea;
alter table console_session add column fingerprint bytea;
