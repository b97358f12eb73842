-- Queued records of stock that can never be applied are set aside with the reason. Replicas of the version before try them again.
set local lock_timeout = '5s';

alter table queued_stock add column refused text; -- why the record can never be applied
