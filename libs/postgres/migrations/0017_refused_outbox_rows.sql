-- Rows that are held or refused are counted every few seconds, and held ones are looked for each second.
set local lock_timeout = '5s';

create index outbox_held on outbox (retry_at) where retry_at is not null;
create index outbox_refused_for_good on outbox (id) where refused is not null and retry_at is null;
