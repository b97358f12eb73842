-- Events of the backlog and deliveries that replicas claimed before endpoints had owners (decision 006). Nothing sends a claimed one any
-- more: there are some when a backup of that time is restored. In the order in which writers take the tables.

-- blocks: few events were claimed at a time, and an index finds them
call backfill('update fan_out_backlog set claimed_by = null where claimed_by is not null', 'fan_out_backlog');
update delivery set claimed_by = null, lease_until = null where claimed_by is not null;
