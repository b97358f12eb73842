-- Who acted: a person with an operator token, the workspace's merchant, the platform itself, or its support. The name of an
-- operator says nothing of it. Null: written before there was the column.
alter table audit add column who text;
-- blocks: acts of people are few
alter table audit add constraint audit_who check (who in ('operator', 'merchant', 'system', 'support'));
