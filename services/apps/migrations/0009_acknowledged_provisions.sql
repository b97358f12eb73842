set local lock_timeout = '5s';

alter table call add column acknowledged_at timestamptz; -- of a provision: the app has the key, and is not asked again
