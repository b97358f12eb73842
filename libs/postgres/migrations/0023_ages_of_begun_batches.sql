set local lock_timeout = '5s';

-- Batches whose later rows went to the dead letters stay begun: they are deleted by their age.
alter table begun_batch add column begun_at timestamptz not null default now();

call grant_worker('select, delete', 'begun_batch');
