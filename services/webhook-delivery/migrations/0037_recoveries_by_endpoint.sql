-- An endpoint has one recovery, which is known by it. Replicas of the version before set `id` and look for it; it goes with the next version.
set local lock_timeout = '5s';
alter table recovery alter column id set default uuidv7();
