-- How many rows the validation that came furthest had read when it failed: with more, an import fails no longer.
alter table import add column failed_at_row bigint not null default 0;
