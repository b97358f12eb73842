-- without a transaction
-- The endpoints of all workspaces that fail, or were disabled because they did. Attempts change none of these columns.
drop index concurrently if exists endpoint_health_worst;
create index concurrently endpoint_health_worst on endpoint_health (state, since, endpoint_id)
  where state <> 'ACTIVE' and reason <> 'requested';
