-- contract: since the version of 0030 only `hourly_delivery_count` is read and written
drop view delivery_count;
-- contract: as above, and 0030 has moved its rows
drop table delivery_count_before;
-- contract: 0030 has made the last move; the others served replicas of the versions before 0011 and 0025
drop function move_delivery_counts(bigint, integer), maintain_partitions(date), merge_delivery_counts(timestamptz),
  failed_since(uuid, uuid, timestamptz);
-- contract: claims ended with decision 006
drop sequence claimer;
