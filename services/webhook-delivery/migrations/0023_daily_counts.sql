-- How many events and deliveries of each workspace were made on each day of UTC (OP-272). They outlive the rows, which stay for 30 days,
-- and deleted endpoints. Triggers insert a row for each statement; a worker merges them (decision 021).
create table daily_count (
  workspace_id uuid not null,
  id bigint generated always as identity,
  day date not null,
  kind text not null check (kind in ('event', 'delivery')),
  number bigint not null,
  primary key (workspace_id, id)
);
call enable_workspace_rls('daily_count');
call grant_worker('select, insert, update, delete', 'daily_count');
call merge_changes_of('daily_count', 'number', 'workspace_id', 'day', 'kind');
create index daily_count_of_workspace on daily_count (workspace_id, day);
create index daily_count_day on daily_count (day);

create function count_of_day() returns trigger language plpgsql as $$
begin
  insert into daily_count (workspace_id, day, kind, number)
  select workspace_id, today_in_utc(), tg_argv[0], count(*) from added group by workspace_id;
  return null;
end
$$;

-- In the order in which writers take the tables.
create trigger events_of_day after insert on event
  referencing new table as added for each statement execute function count_of_day('event');
create trigger deliveries_of_day after insert on delivery
  referencing new table as added for each statement execute function count_of_day('delivery');
