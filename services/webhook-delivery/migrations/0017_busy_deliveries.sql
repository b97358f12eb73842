-- Until when a former owner of the delivery's shard may have an attempt in flight: its next owner waits for the result. Replicas of the
-- version before leave it out; `claimed_by` and `lease_until` are theirs alone, and go with the next version.
select lock_partitioned();

alter table delivery add column busy_until timestamptz;

-- The few that are marked are found when a shard changes hands. After this migration it is built for each partition, beside writers.
create index delivery_busy on only delivery (busy_until) where busy_until is not null;
