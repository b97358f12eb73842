-- The deletion of a workspace finds its rows in each table by an index (decision 025).
create index customer_count_workspace on customer_count (workspace_id);
