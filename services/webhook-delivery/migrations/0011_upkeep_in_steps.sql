-- Partitions are added and dropped in small steps, by the clock of the database, and what is done with counts reads only these (decision
-- 019). No step waits for a lock for more than a moment, since whoever comes meanwhile waits behind it. Replicas of the version before go on
-- working: they read the counts from a view, and what they ask for as upkeep is a step of it.
do $$
begin
  for attempts in 1 .. 50
  loop
    begin
      -- All at once or none, as `lock_partitioned` does: with one in hand, the wait for another could end in a deadlock.
      set local lock_timeout = '200ms';
      lock table delivery_count, fan_out_backlog, event, delivery, attempt in access exclusive mode;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise 'others were at the tables all the time' using errcode = 'lock_not_available';
end
$$;

-- What was counted so far. An index on it would hold writers back for long, so `moveCounts` brings its rows into a new table; a later
-- migration drops it and the view.
alter table delivery_count rename to delivery_count_before;

create table hourly_delivery_count (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  hour timestamptz not null, -- of the delivery
  event_day date not null, -- which day's partition the deliveries are in, if there is one: their count goes with it
  event_type text not null,
  status text not null,
  shard integer not null,
  deliveries bigint not null, -- can be negative: only the sum of the shards tells
  primary key (workspace_id, endpoint_id, hour, event_day, event_type, status, shard)
) with (fillfactor = 50);

-- What goes with a day, and what is to be merged. Neither has `deliveries`, so a changed count changes no index.
create index hourly_delivery_count_day on hourly_delivery_count (event_day);
create index hourly_delivery_count_unmerged on hourly_delivery_count (hour) where shard > 0;

create view delivery_count with (security_invoker = true) as
select workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries from hourly_delivery_count
union all
select workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries from delivery_count_before;

call enable_workspace_rls('hourly_delivery_count');
call grant_worker('select, insert, update, delete', 'hourly_delivery_count');

do $$
begin
  execute format('grant select on delivery_count to %I', current_schema() || '_worker');
  execute format('create policy keeper on hourly_delivery_count to %I using (true)', current_user);
  execute format('create policy keeper on delivery to %I using (true)', current_user);
  execute format('create policy keeper on fan_out_backlog for select to %I using (true)', current_user);
end
$$;

-- As in 0004, into the new table, and never into shard 0: it has the merged counts, and only merging removes zeros.
do $$
declare
  kind text;
  changes text;
begin
  for kind, changes in values
    ('count_added', 'select *, 1 as change from added'),
    ('count_changed', 'select *, 1 as change from added union all select *, -1 from removed'),
    ('count_removed', 'select *, -1 as change from removed')
  loop
    execute format(
      $create$
        create or replace function %I() returns trigger language plpgsql as $body$
        begin
          insert into hourly_delivery_count as known (
            workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries
          )
          select workspace_id, endpoint_id, date_bin('1 hour', uuid_extract_timestamp(id), 'epoch'), day_of_id(event_id),
            coalesce(event_type, ''), status, 1 + pg_backend_pid() %% 8, sum(change)
          from (%s) as changed
          group by 1, 2, 3, 4, 5, 6 having sum(change) <> 0
          order by 1, 2, 3, 4, 5, 6
          on conflict (workspace_id, endpoint_id, hour, event_day, event_type, status, shard)
          do update set deliveries = known.deliveries + excluded.deliveries;
          return null;
        end
        $body$
      $create$,
      kind, changes
    );
  end loop;
end
$$;

-- The day in UTC. Each day is kept for 30 days after it.
create function today_in_utc() returns date language sql stable return (statement_timestamp() at time zone 'UTC')::date;

-- The new partition is made beside the table and then attached to it: only the default partition, which may have rows of that day, is
-- locked against all others, from when it is free until the end of the transaction.
create or replace function add_partition(parent text, day date) returns void language plpgsql set lock_timeout = '100ms' as $$
declare
  partition text := parent || to_char(day, '_YYYYMMDD');
  catch_all text := parent || '_default';
  key text := case parent when 'event' then 'id' when 'delivery' then 'event_id' else 'delivery_id' end;
  first_id uuid := least_id(day::timestamp at time zone 'UTC');
  end_id uuid := least_id((day + 1)::timestamp at time zone 'UTC');
  columns text;
begin
  select string_agg(quote_ident(attname), ', ' order by attnum) into columns
  from pg_attribute where attrelid = to_regclass(parent) and attnum > 0 and attgenerated = '' and not attisdropped;
  execute format('create table %I (like %I including all)', partition, parent);
  execute format('lock table %I in access exclusive mode', catch_all);
  -- Rows of the day, such as those of an id that only looks like one of it, move. They stay counted.
  execute format('alter table %I disable trigger user', catch_all);
  execute format(
    'with moving as (delete from %I where %I >= %L and %I < %L returning %s) insert into %I (%s) select %s from moving',
    catch_all, key, first_id, key, end_id, columns, partition, columns, columns
  );
  execute format('alter table %I enable trigger user', catch_all);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition, first_id, end_id);
  -- Reached through its parent only, whose policies hold then.
  execute format('alter table %I enable row level security', partition);
  execute format('alter table %I force row level security', partition);
  execute format('revoke all on %I from %I, %I', partition, current_schema(), current_schema() || '_worker');
end
$$;

-- Adds one partition of the days from yesterday to a week ahead. False when none is missing, or another replica is at it. Waits for a lock
-- for a moment only, and fails then with lock_not_available.
create function add_missing_partition() returns boolean language plpgsql security definer as $$
declare
  missing record;
begin
  if not pg_try_advisory_xact_lock(7021003) then
    return false;
  end if;
  select * into missing from missing_partitions(today_in_utc()) order by day, parent limit 1;
  if not found then
    return false;
  end if;
  perform add_partition(missing.parent, missing.day);
  return true;
end
$$;

-- Ends deliveries whose 30 days are over: PENDING ones as FAILED. Returns how many were PENDING, and whether there may be more. One that is
-- claimed is ended after its attempt.
create function end_expired_deliveries(batch integer, out given_up bigint, out is_more boolean)
language sql security definer set plan_cache_mode = force_custom_plan as $$
  with expired as (
    select due.* from expired_partitions(today_in_utc()) as expired cross join lateral (
      select workspace_id, endpoint_id, id, event_id from delivery
      where event_id >= least_id(day::timestamp at time zone 'UTC') and event_id < least_id((day + 1)::timestamp at time zone 'UTC')
        and due_at is not null and claimed_by is null
      limit batch
    ) due
    where expired.parent = 'delivery'
    union all
    (
      select workspace_id, endpoint_id, id, event_id from delivery_default
      where created_at < today_in_utc() - 30 and due_at is not null and claimed_by is null limit batch
    )
  ), ended as (
    update delivery set
      status = case when delivery.status = 'PENDING' then 'FAILED' else delivery.status end, next_attempt_at = null, resend_at = null
    from expired
    where delivery.workspace_id = expired.workspace_id and delivery.endpoint_id = expired.endpoint_id
      and delivery.id = expired.id and delivery.event_id = expired.event_id and delivery.claimed_by is null
    returning old.status
  )
  select count(*) filter (where status = 'PENDING'), count(*) >= batch from ended
$$;

-- Whether a delivery of events with these ids waits, for an attempt or for the end of one.
create function is_waiting_between(first_id uuid, end_id uuid) returns boolean language sql stable as $$
  select exists (select from delivery where event_id >= first_id and event_id < end_id and due_at is not null and claimed_by is null)
    or exists (select from delivery where event_id >= first_id and event_id < end_id and claimed_by is not null)
$$;

-- Drops one partition whose 30 days are over, the oldest first: attempts before deliveries, and these, with their counts, before events.
-- Null when there is none, when a delivery or the backlog still waits in it, or when another replica is at it.
create function drop_expired_partition() returns text language plpgsql security definer
set lock_timeout = '100ms' set plan_cache_mode = force_custom_plan as $$
declare
  expired record;
  first_id uuid;
  end_id uuid;
begin
  if not pg_try_advisory_xact_lock(7021003) then
    return null;
  end if;
  for expired in
    select * from expired_partitions(today_in_utc()) order by day, array_position(array['attempt', 'delivery', 'event'], parent)
  loop
    first_id := least_id(expired.day::timestamp at time zone 'UTC');
    end_id := least_id((expired.day + 1)::timestamp at time zone 'UTC');
    continue when expired.parent = 'event' and (
      to_regclass('delivery' || right(expired.name, 9)) is not null
      or exists (select from fan_out_backlog where event_id >= first_id and event_id < end_id)
    );
    continue when expired.parent <> 'event' and is_waiting_between(first_id, end_id);
    if expired.parent = 'delivery' then
      delete from hourly_delivery_count where event_day = expired.day;
      lock table only delivery in access exclusive mode;
      if is_waiting_between(first_id, end_id) then
        raise 'a delivery of the day was added meanwhile' using errcode = 'lock_not_available';
      end if;
    end if;
    execute format('drop table %I', expired.name);
    return expired.name;
  end loop;
  return null;
end
$$;

-- Deletes rows of the default partitions whose 30 days are over, and returns how many. What waits stays: `end_expired_deliveries` ends it.
create function delete_expired_rows(batch integer) returns bigint language plpgsql security definer as $$
declare
  deleted bigint;
  sum bigint := 0;
begin
  delete from attempt_default where ctid = any(array(
    select ctid from attempt_default where started_at < today_in_utc() - 30 limit batch
  ));
  get diagnostics deleted = row_count;
  sum := sum + deleted;
  delete from delivery_default where ctid = any(array(
    select ctid from delivery_default
    where created_at < today_in_utc() - 30 and due_at is null and claimed_by is null limit batch
  ));
  get diagnostics deleted = row_count;
  sum := sum + deleted;
  delete from event_default where ctid = any(array(
    select ctid from event_default as old
    where occurred_at < today_in_utc() - 30 and not exists (select from delivery where event_id = old.id)
      and not exists (select from fan_out_backlog where workspace_id = old.workspace_id and event_id = old.id)
    limit batch
  ));
  get diagnostics deleted = row_count;
  return sum + deleted;
end
$$;

-- Adds the shards of hours that hardly change any more together, and forgets counts that are zero. Returns how many it took.
create function merge_delivery_counts(batch integer) returns bigint language plpgsql
-- A plan kept from the time when the partitions were empty would read all there is.
set plan_cache_mode = force_custom_plan set enable_sort = off set enable_bitmapscan = off as $$
declare
  chosen hourly_delivery_count[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('merge delivery_count ' || current_schema(), 0)) then
    return 0;
  end if;
  select array_agg(unmerged) into chosen from (
    select * from hourly_delivery_count where shard > 0 and hour <= now() - interval '2 hours' order by hour limit batch
  ) as unmerged;
  with change as (
    delete from hourly_delivery_count as counted using unnest(chosen) as unmerged
    where counted.workspace_id = unmerged.workspace_id and counted.endpoint_id = unmerged.endpoint_id
      and counted.hour = unmerged.hour and counted.event_day = unmerged.event_day
      and counted.event_type = unmerged.event_type and counted.status = unmerged.status and counted.shard = unmerged.shard
    returning counted.*
  )
  insert into hourly_delivery_count as known (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
  select workspace_id, endpoint_id, hour, event_day, event_type, status, 0, sum(deliveries)
  from change group by 1, 2, 3, 4, 5, 6 having sum(deliveries) <> 0 order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, endpoint_id, hour, event_day, event_type, status, shard)
  do update set deliveries = known.deliveries + excluded.deliveries;
  delete from hourly_delivery_count as counted using unnest(chosen) as unmerged
  where counted.workspace_id = unmerged.workspace_id and counted.endpoint_id = unmerged.endpoint_id
    and counted.hour = unmerged.hour and counted.event_day = unmerged.event_day
    and counted.event_type = unmerged.event_type and counted.status = unmerged.status
    and counted.shard = 0 and counted.deliveries = 0;
  return coalesce(cardinality(chosen), 0);
end
$$;

-- Moves the counts of some pages of the table before, and returns whether there are pages after these.
create function move_delivery_counts(first_page bigint, pages integer) returns boolean language sql as $$
  with moving as (
    delete from delivery_count_before
    where ctid >= format('(%s,0)', first_page)::tid and ctid < format('(%s,0)', first_page + pages)::tid
    returning workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries
  )
  insert into hourly_delivery_count as known (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
  select workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries from moving order by 1, 2, 3, 4, 5, 6, 7
  on conflict (workspace_id, endpoint_id, hour, event_day, event_type, status, shard)
  do update set deliveries = known.deliveries + excluded.deliveries;
  select pg_relation_size('delivery_count_before') > (first_page + pages) * current_setting('block_size')::bigint
$$;

-- Called by replicas of the version before, with the time of their own clock, which does not count any more.
create or replace function maintain_partitions(today date) returns void language plpgsql security definer as $$
begin
  perform add_missing_partition();
  perform drop_expired_partition();
end
$$;

create or replace function merge_delivery_counts(until timestamptz) returns void language plpgsql as $$
begin
  perform merge_delivery_counts(5000);
end
$$;

do $$
declare
  step text;
begin
  foreach step in array array[
    'add_missing_partition()', 'end_expired_deliveries(integer)', 'drop_expired_partition()', 'delete_expired_rows(integer)'
  ]
  loop
    execute format('revoke all on function %s from public', step);
    execute format('grant execute on function %s to %I', step, current_schema() || '_worker');
  end loop;
  foreach step in array array[
    'add_missing_partition()', 'end_expired_deliveries(integer)', 'drop_expired_partition()', 'delete_expired_rows(integer)',
    'maintain_partitions(date)'
  ]
  loop
    execute format('alter function %s set search_path = %I, pg_temp', step, current_schema());
  end loop;
end
$$;
