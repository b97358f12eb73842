-- without a transaction
drop index concurrently if exists audit_of_session;
create index concurrently audit_of_session on audit (session_id, at desc, id desc) where session_id is not null;
