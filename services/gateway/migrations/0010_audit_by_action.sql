-- without a transaction
-- The audit log by what was done, and to what, newest first.
drop index concurrently if exists audit_of_action;
create index concurrently audit_of_action on audit (action, at desc, id desc);
drop index concurrently if exists audit_of_target;
create index concurrently audit_of_target on audit (target, at desc, id desc);
