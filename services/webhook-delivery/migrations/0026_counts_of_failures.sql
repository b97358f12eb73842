-- The days' counts also count failures (OP-272). `end_expired` ends deliveries as FAILED, too, as the role that keeps the partitions.
alter table daily_count drop constraint daily_count_kind_check;
alter table daily_count add constraint daily_count_kind_check check (kind in ('event', 'delivery', 'failure')) not valid;
do $$
begin
  execute format('create policy keeper on daily_count to %I using (true)', current_user);
end
$$;
