set local lock_timeout = '5s';

alter table app add column suspended_at timestamptz; -- null while it is not
alter table app add column suspension_reason text;
alter table app add column suspension_changed_at timestamptz; -- the last suspension or resumption: what is older changes nothing elsewhere
alter table app add column deleted_at timestamptz; -- its installations are uninstalled, and then deleted with it
