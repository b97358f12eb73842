-- Ids of other kinds than UUIDv7 (OP-58) are nearly all later than those of the year 2100. They get a partition of their own, `_far`: the
-- default partition, which is read whole while a day is added, keeps the few of the years before.
select lock_partitioned();

-- The default partition becomes the far one, so that only the few others move. Holds the tables for about 8 s per million of such rows.
-- contract: replicas reach these partitions by their tables and by functions of the schema alone
do $$
declare
  parent text;
  key text;
  first_far uuid := least_id('2100-01-01Z');
  columns text;
begin
  for parent, key in values ('event', 'id'), ('delivery', 'event_id')
  loop
    select string_agg(quote_ident(attname), ', ' order by attnum) into columns
    from pg_attribute where attrelid = to_regclass(parent) and attnum > 0 and attgenerated = '' and not attisdropped;
    execute format('alter table %I detach partition %I', parent, parent || '_default');
    execute format('alter table %I rename to %I', parent || '_default', parent || '_far');
    execute format('create table %I (like %I including all)', parent || '_default', parent);
    execute format('alter table %I disable trigger user', parent || '_far');
    execute format(
      'with moving as (delete from %I where %I < %L returning %s) insert into %I (%s) select %s from moving',
      parent || '_far', key, first_far, columns, parent || '_default', columns, columns
    );
    execute format('alter table %I enable trigger user', parent || '_far');
    execute format('alter table %I attach partition %I for values from (%L) to (maxvalue)', parent, parent || '_far', first_far);
    execute format('alter table %I attach partition %I default', parent, parent || '_default');
    execute format('alter table %I enable row level security', parent || '_default');
    execute format('alter table %I force row level security', parent || '_default');
    execute format('create policy keeper on %I to %I using (true)', parent || '_default', current_user);
    execute format(
      'revoke all on %I from %I, %I', parent || '_default', current_schema(), current_schema() || '_worker'
    );
  end loop;
end
$$;
create trigger count_removed after delete on delivery_default
  referencing old table as removed for each statement execute function count_removed();

create or replace function end_expired_deliveries(batch integer, out given_up bigint, out is_more boolean)
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
      select workspace_id, endpoint_id, id, event_id from (table delivery_default union all table delivery_far) as of_no_day
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

-- Deletes rows of the partitions of no day whose 30 days are over, and returns how many. What waits stays: `end_expired_deliveries` ends it.
create or replace function delete_expired_rows(batch integer) returns bigint language plpgsql security definer as $$
declare
  partition text;
  is_over text;
  deleted bigint;
  sum bigint := 0;
begin
  for partition, is_over in
    select parent || suffix, condition
    from unnest(array['_default', '_far']) as suffix, (values
      ('attempt', 'started_at < $2'),
      ('delivery', 'created_at < $2 and due_at is null and claimed_by is null'),
      ('event', 'occurred_at < $2 and not exists (select from delivery where event_id = old.id)
        and not exists (select from fan_out_backlog where workspace_id = old.workspace_id and event_id = old.id)')
    ) as kept (parent, condition)
    where to_regclass(parent || suffix) is not null order by parent
  loop
    execute format('delete from %1$I where ctid = any(array(select ctid from %1$I as old where %2$s limit $1))', partition, is_over)
    using batch, today_in_utc()::timestamptz - interval '30 days';
    get diagnostics deleted = row_count;
    sum := sum + deleted;
  end loop;
  return sum;
end
$$;

do $$
begin
  execute format('alter function delete_expired_rows(integer) set search_path = %I, pg_temp', current_schema());
  execute format('alter function end_expired_deliveries(integer) set search_path = %I, pg_temp', current_schema());
end
$$;
