-- Until when a former owner of the delivery's shard may have an attempt in flight: its next owner waits for the result. Replicas of the
-- version before leave it out; `claimed_by` and `lease_until` are theirs alone, and go with the next version.
select lock_partitioned();

alter table delivery add column busy_until timestamptz;

-- The few that are marked are found when a shard changes hands. Writers wait for the build; it gives up where it would have to wait for
-- them itself.
set local lock_timeout = '5s';
create index delivery_busy on delivery (busy_until) where busy_until is not null;
