set local lock_timeout = '5s';

-- When the workspace was last suspended or resumed: other services ignore a change that is not later than the one before.
alter table workspace add column status_changed_at timestamptz;
grant update (status_changed_at) on workspace to gateway;
