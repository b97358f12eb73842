-- Acts that another service has recorded carry the id of their record, so that a repeated record adds nothing.
alter table audit add column event_id uuid unique;
alter table audit alter column workspace_id drop not null; -- acts on apps concern no single workspace
grant insert on audit to gateway_worker;
