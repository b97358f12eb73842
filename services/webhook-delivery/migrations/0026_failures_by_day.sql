-- How many deliveries of each workspace became FAILED on each day of UTC (OP-272), whichever replica writes it.
alter table daily_count drop constraint daily_count_kind_check;
alter table daily_count add constraint daily_count_kind_check check (kind in ('event', 'delivery', 'failure')) not valid;
alter table daily_count validate constraint daily_count_kind_check;
-- `end_expired` ends deliveries as FAILED, too, as the role that keeps the partitions.
do $$
begin
  execute format('create policy keeper on daily_count to %I using (true)', current_user);
end
$$;

create function failures_of_day() returns trigger language plpgsql as $$
begin
  if exists (select from added where status = 'FAILED') then
    insert into daily_count (workspace_id, day, kind, number)
    select added.workspace_id, today_in_utc(), 'failure', count(*)
    from added join removed on removed.id = added.id and removed.event_id = added.event_id and removed.status <> 'FAILED'
    where added.status = 'FAILED'
    group by added.workspace_id order by added.workspace_id;
  end if;
  return null;
end
$$;
create trigger failures_of_day after update on delivery
  referencing old table as removed new table as added for each statement execute function failures_of_day();
