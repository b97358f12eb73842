set local lock_timeout = '5s';

-- Of an app's key: the app is suspended. `app_suspension_changed_at` is by the clock of apps: what is older changes nothing.
alter table api_key add column app_suspended_at timestamptz;
alter table api_key add column app_suspension_changed_at timestamptz;
