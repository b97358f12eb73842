-- The deletion of a workspace finds its rows in each table by an index (decision 025).
create index collection_member_workspace on collection_member (workspace_id);
create index collection_member_count_workspace on collection_member_count (workspace_id);
