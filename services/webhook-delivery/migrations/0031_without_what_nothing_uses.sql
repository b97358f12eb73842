-- contract: only replicas of the versions before 0011 and 0025 called these functions
drop function maintain_partitions(date), merge_delivery_counts(timestamptz), failed_since(uuid, uuid, timestamptz);
-- contract: claims ended with decision 006
drop sequence claimer;
