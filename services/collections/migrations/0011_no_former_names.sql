set local lock_timeout = '5s';

-- contract: the version before uses the names of 0004 alone
drop view generation, member, member_count, rule_set;
-- contract: a trigger of the view alone called it
drop function write_generation();
