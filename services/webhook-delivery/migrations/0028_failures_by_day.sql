-- How many deliveries of each workspace became FAILED on each day of UTC (OP-272), whichever replica writes it.
create function failures_of_day() returns trigger language plpgsql as $$
begin
  if exists (select from added where status = 'FAILED') then
    insert into daily_count (workspace_id, day, kind, number)
    select workspace_id, today_in_utc(), 'failure', count(*) from (
      -- Those that are FAILED now and were not: without a join, whose plan would be that of the first call.
      select workspace_id from (
        select workspace_id, event_id, id from added where status = 'FAILED'
        union all
        select workspace_id, event_id, id from removed where status <> 'FAILED'
      ) as changed
      group by workspace_id, event_id, id having count(*) = 2
    ) as failed
    group by workspace_id order by workspace_id;
  end if;
  return null;
end
$$;
create trigger failures_of_day after update on delivery
  referencing old table as removed new table as added for each statement execute function failures_of_day();
