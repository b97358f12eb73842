set local lock_timeout = '5s';

-- When the access of an uninstalled app is to be ended, or to be ended again; null: at once. Apart from `due_at` and `claim`, which are the
-- call's, since it waits for no attempt under way.
alter table call add column access_due_at timestamptz;
