set local lock_timeout = '5s';

-- A reset replaces a sandbox by another workspace (OP-287): a live workspace has one sandbox that is not deleted.
-- blocks: there are thousands of workspaces, not millions.
create unique index workspace_sandbox on workspace (parent, livemode) where deleted_at is null;
-- blocks: as above. For what looks for the workspaces of a live one, deleted ones too.
create index workspace_of_live on workspace (parent);
alter table workspace drop constraint workspace_parent_livemode_key;
