-- The most requests that an endpoint gets in any second (OP-257). Null: as many as it takes.
alter table endpoint add column requests_per_second integer;
