set local lock_timeout = '5s';
-- contract: the version before reads `hourly_delivery_count` alone, into which 0030 moved everything
drop view delivery_count;
-- contract: only 0030 called it
drop function move_delivery_counts(bigint, integer);
-- contract: read by that view and function alone
drop table delivery_count_before;
