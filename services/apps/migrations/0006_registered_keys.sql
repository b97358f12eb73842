-- The key that webhook-delivery knows as the installation's (OP-231). Null, or another one than `key_id`: a worker registers it. So it does
-- for the installations that are there, and for those of replicas of the version before.
alter table installation add column registered_key_id uuid;

-- blocks: a workspace has few apps, so few rows are here
create index installation_unregistered on installation (workspace_id, id)
  where state = 'ACTIVE' and registered_key_id is distinct from key_id;
