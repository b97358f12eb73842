-- When products changed last without this membership version, because the service could not read its rules: during a deploy an older
-- replica does not know what a newer one has stored. Once no replica skips it any more, the version is built anew.
set local lock_timeout = '5s';

alter table membership_version add column skipped_at timestamptz;

create index membership_version_skipped on membership_version (skipped_at) where skipped_at is not null;
