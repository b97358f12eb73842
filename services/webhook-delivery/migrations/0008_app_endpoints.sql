-- The ids that apps has chosen for endpoints. They stay when the endpoint is deleted: a request to create it that arrives late does not
-- create it again.
create table app_endpoint (
  workspace_id uuid not null,
  id uuid not null,
  primary key (workspace_id, id)
);

call enable_workspace_rls('app_endpoint');
