set local lock_timeout = '5s';

-- The version before counts refunds, and notes released attempts in their table.
drop trigger uncounted_refunds on sales_order;
-- contract: its trigger alone called it
drop function refuse_uncounted_refunds();
drop trigger copy_released on placement;
-- contract: its trigger alone called it
drop function copy_released();
-- contract: the version before neither reads nor writes it
alter table placement drop column released;
