-- Events, deliveries and attempts are kept for 30 days: a partition for each day, dropped when it is over. What is there is copied
-- into the new tables, which holds writers back meanwhile. Replicas of the version before go on working.

-- The least UUIDv7 of a millisecond: ids of that time or later are not less. Times before 1970 count as 1970.
create function least_id(at timestamptz) returns uuid language sql immutable strict parallel safe
return rpad(lpad(to_hex(greatest(ceil(extract(epoch from at) * 1000), 0)::bigint), 12, '0'), 32, '0')::uuid;

-- The day of a UUIDv7 in UTC; of other ids, whose rows are in the default partitions, one that never ends.
create function day_of_id(id uuid) returns date language sql immutable strict parallel safe
return case
  when uuid_extract_version(id) = 7 then (uuid_extract_timestamp(id) at time zone 'UTC')::date else 'infinity'
end;

alter table event no force row level security;
alter table event rename to event_before;
alter table event_before drop constraint event_pkey;

alter table delivery no force row level security;
alter table delivery rename to delivery_before;
drop index delivery_ready, delivery_due, delivery_claimed, delivery_failed;
alter table delivery_before drop constraint delivery_pkey, drop constraint delivery_event_id_endpoint_id_key;

alter table attempt no force row level security;
alter table attempt rename to attempt_before;
alter table attempt_before drop constraint attempt_pkey;

create table event (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  key text not null, -- what the event is about: first attempts about one thing keep their order (OP-74)
  body text not null, -- the envelope exactly as it is signed and sent (OP-61)
  occurred_at timestamptz not null,
  primary key (workspace_id, id)
) partition by range (id);

create table delivery (
  workspace_id uuid not null,
  endpoint_id uuid not null,
  id uuid not null, -- UUIDv7 of `created_at`: the primary key lists an endpoint's deliveries by age
  event_id uuid not null,
  event_type text,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts_made integer not null default 0,
  resends_made integer not null default 0, -- those of attempts_made that were outside the schedule
  next_attempt_at timestamptz,
  resend_at timestamptz, -- an attempt outside the schedule was asked for
  due_at timestamptz generated always as (least(next_attempt_at, resend_at)) stored,
  created_at timestamptz not null,
  delivered_at timestamptz,
  claimed_by integer, -- the claimer whose advisory lock is its sign of life
  lease_until timestamptz, -- frees the claim of a claimer that lives but does not work
  primary key (workspace_id, endpoint_id, id, event_id),
  unique (event_id, endpoint_id), -- within a partition and so within all, since the event says which
  check ((status = 'PENDING') = (next_attempt_at is not null)),
  check ((claimed_by is null) = (lease_until is null))
) partition by range (event_id);

-- A queue per endpoint, so that what waits for one endpoint costs nothing when others are asked for. A row is in one of
-- the first two indexes or in none: a first attempt sent from memory never enters the first.
create index delivery_due on delivery (endpoint_id, due_at, id) where due_at is not null and claimed_by is null;
create index delivery_claimed on delivery (claimed_by) where claimed_by is not null;
create index delivery_failed on delivery (workspace_id, endpoint_id, id) where status = 'FAILED';

create table attempt (
  workspace_id uuid not null,
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  request_url text not null,
  request_headers json not null,
  response_status smallint, -- null: no response came
  response_headers json,
  response_body bytea, -- the first 16 KiB
  response_truncated boolean,
  error_class text, -- null: delivered
  error_message text,
  primary key (workspace_id, delivery_id, number)
) partition by range (delivery_id);

-- Events of the platform's other parts may have ids of any kind (OP-58): what fits no day is deleted instead of dropped.
create table event_default partition of event default;
create table delivery_default partition of delivery default;
create table attempt_default partition of attempt default;

-- How many deliveries an endpoint has of each hour, type and status: lists take their totals and their way to a page from here.
-- Transactions that change the count of one endpoint at once do so in different shards, and do not wait for each other.
create table delivery_count (
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

-- A function for each kind of change, whose plan is kept: planned anew each time, counting costs more than what it counts.
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
    -- In the order of the key, so that two who count in the same shard do not wait for each other in a circle.
    execute format(
      $create$
        create function %I() returns trigger language plpgsql as $body$
        begin
          insert into delivery_count as known (
            workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries
          )
          select workspace_id, endpoint_id, date_bin('1 hour', uuid_extract_timestamp(id), 'epoch'), day_of_id(event_id),
            coalesce(event_type, ''), status, pg_backend_pid() %% 8, sum(change)
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

create trigger count_added after insert on delivery
  referencing new table as added for each statement execute function count_added();
create trigger count_changed after update on delivery
  referencing old table as removed new table as added for each statement execute function count_changed();
-- A partition's days go with its counts; from the default partition deliveries are deleted one by one.
create trigger count_removed after delete on delivery_default
  referencing old table as removed for each statement execute function count_removed();

-- Adds the shards of hours up to `until` together, and forgets counts that are zero.
create function merge_delivery_counts(until timestamptz) returns void language sql begin atomic
  with merged as (
    delete from delivery_count where shard > 0 and hour <= until
    returning workspace_id, endpoint_id, hour, event_day, event_type, status, deliveries
  )
  insert into delivery_count as known (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
  select workspace_id, endpoint_id, hour, event_day, event_type, status, 0, sum(deliveries)
  from merged group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, endpoint_id, hour, event_day, event_type, status, shard)
  do update set deliveries = known.deliveries + excluded.deliveries;
  delete from delivery_count where deliveries = 0 and shard = 0 and hour <= until;
end;

-- Adds the partitions of the days from yesterday to a week ahead, and drops those that ended more than 30 days ago. `today` is in
-- UTC. Belongs to the migrating role, who may create and drop; the worker role calls it.
create function maintain_partitions(today date) returns void language plpgsql security definer as $$
declare
  missing record;
  expired record;
begin
  perform pg_advisory_xact_lock(7021003);
  if exists (select from missing_partitions(today)) or exists (select from expired_partitions(today)) then
    perform lock_partitioned();
  end if;
  for missing in select * from missing_partitions(today)
  loop
    perform add_partition(missing.parent, missing.day);
  end loop;
  for expired in select * from expired_partitions(today)
  loop
    execute format('drop table %I', expired.name);
    delete from delivery_count where expired.parent = 'delivery' and event_day = expired.day;
  end loop;
  delete from event_default where occurred_at < today - 30;
  delete from delivery_default where created_at < today - 30;
  delete from attempt_default where started_at < today - 30;
end
$$;

create function missing_partitions(today date) returns table (parent text, day date) language sql stable as $$
  select parent, today + days from unnest(array['event', 'delivery', 'attempt']) as parent, generate_series(-1, 7) as days
  where to_regclass(parent || to_char(today + days, '_YYYYMMDD')) is null
$$;

create function expired_partitions(today date) returns table (parent text, name text, day date) language sql stable as $$
  select parent, relname::text, to_date(right(relname, 8), 'YYYYMMDD')
  from unnest(array['event', 'delivery', 'attempt']) as parent
  join pg_inherits on inhparent = to_regclass(parent)
  join pg_class on pg_class.oid = inhrelid
  where relname ~ '_\d{8}$' and to_date(right(relname, 8), 'YYYYMMDD') < today - 30
$$;

-- Whoever comes meanwhile waits for the end of this transaction. It gives its own place up again and again until it has all at
-- once: waiting for one with another in hand, it would end in a deadlock with whoever takes them in another order.
create function lock_partitioned() returns void language plpgsql set lock_timeout = '200ms' as $$
begin
  for attempts in 1 .. 50
  loop
    begin
      lock table event, delivery, attempt in access exclusive mode;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise 'others were at the tables all the time' using errcode = 'lock_not_available';
end
$$;

-- Rows of the day that are in the default partition, such as those of an id that only looks like one of that day, move.
create function add_partition(parent text, day date) returns void language plpgsql as $$
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
  execute format('alter table %I disable trigger user', catch_all);
  execute format(
    'create temp table moving on commit drop as select %s from %I where %I >= %L and %I < %L',
    columns, catch_all, key, first_id, key, end_id
  );
  execute format('delete from %I where %I >= %L and %I < %L', catch_all, key, first_id, key, end_id);
  execute format('create table %I partition of %I for values from (%L) to (%L)', partition, parent, first_id, end_id);
  execute format('insert into %I (%s) select %s from pg_temp.moving', partition, columns, columns);
  drop table pg_temp.moving;
  execute format('alter table %I enable trigger user', catch_all);
  -- Reached through its parent only, whose policies hold then.
  execute format('alter table %I enable row level security', partition);
  execute format('alter table %I force row level security', partition);
  execute format('revoke all on %I from %I, %I', partition, current_schema(), current_schema() || '_worker');
end
$$;

revoke all on function add_partition(text, date), lock_partitioned(), maintain_partitions(date) from public;

do $$
begin
  execute format('alter function maintain_partitions(date) set search_path = %I, pg_temp', current_schema());
  execute format('grant execute on function maintain_partitions(date) to %I', current_schema() || '_worker');
end
$$;

select maintain_partitions((now() at time zone 'UTC')::date);

insert into event select * from event_before;
insert into delivery (
  workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, resends_made, next_attempt_at, resend_at,
  created_at, delivered_at, claimed_by, lease_until
)
select workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, resends_made, next_attempt_at, resend_at,
  coalesce(uuid_extract_timestamp(id), created_at), delivered_at, claimed_by, lease_until
from delivery_before;
insert into attempt select * from attempt_before;
drop table event_before, delivery_before, attempt_before;

call wall_off(
  'event', 'delivery', 'attempt', 'event_default', 'delivery_default', 'attempt_default', 'delivery_count'
);

-- Partitions are maintained across workspaces.
do $$
declare
  name text;
begin
  foreach name in array array['event_default', 'delivery_default', 'attempt_default', 'delivery_count']
  loop
    execute format('create policy keeper on %I to %I using (true)', name, current_user);
  end loop;
end
$$;

call let_worker('select, insert', 'event');
call let_worker('select, insert, update', 'delivery');
call let_worker('insert, select (workspace_id, delivery_id, number, error_class)', 'attempt');
call let_worker('select, insert, update, delete', 'delivery_count');
