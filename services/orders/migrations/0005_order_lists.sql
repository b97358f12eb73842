-- What lists of orders are read from: an order for each sort, with the filters beside it, and counts.

-- The least UUIDv7 of a millisecond: ids of that time or later are not less. Times before 1970 count as 1970.
create function least_id(at timestamptz) returns uuid language sql immutable strict parallel safe
return rpad(lpad(to_hex(greatest(ceil(extract(epoch from at) * 1000), 0)::bigint), 12, '0'), 32, '0')::uuid;

-- Lists know the hours of a page from counts, and read these hours only. So each index has the columns of all filters: orders that
-- do not match are passed without reading them.
alter table sales_order
  drop constraint sales_order_pkey,
  add constraint sales_order_pkey primary key (workspace_id, id)
    include (status, payment_status, fulfillment_status, sales_channel, updated_at);
create index sales_order_updated on sales_order (workspace_id, updated_at, id)
  include (status, payment_status, fulfillment_status, sales_channel);
drop index sales_order_customer;
create index sales_order_customer on sales_order (workspace_id, customer_id, id)
  include (status, payment_status, fulfillment_status, sales_channel, updated_at) where customer_id is not null;

-- Often, because an index is read alone only where its orders are known to be visible to all.
alter table sales_order set (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_scale_factor = 0.02);

-- How many orders there are of each state, by the hour and day of their creation and of their last change. The orders of a sales channel
-- are counted again under its name, so that the counts of all orders stay few, whatever the number of channels.
create table order_count (
  workspace_id uuid not null,
  clock text not null check (clock in ('CREATED', 'UPDATED')),
  sales_channel text not null, -- '': the orders of all channels, and of none
  unit text not null check (unit in ('HOUR', 'DAY')),
  at timestamptz not null, -- the beginning of the hour or day, in UTC
  status text not null,
  payment_status text not null,
  fulfillment_status text not null,
  orders bigint not null,
  -- With the number, so that the counts of a list, which lie side by side here, are read from the index alone.
  primary key (workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status) include (orders)
);

-- Changes that order_count does not have yet: a row for each state that orders come to or leave, so that no transaction waits for
-- another one, and writing an order costs little. A worker merges them every second (decision 021).
create table order_change (
  workspace_id uuid not null,
  created_hour timestamptz not null, -- of the id, which lists sort by
  updated_hour timestamptz not null,
  sales_channel text,
  status text not null,
  payment_status text not null,
  fulfillment_status text not null,
  orders bigint not null -- less than 0: they leave
);

create index order_change_workspace on order_change (workspace_id);

call enable_workspace_rls('order_count', 'order_change');
call grant_worker('select, insert, update', 'order_count');
call grant_worker('select, delete', 'order_change');

create function hour_of(at timestamptz) returns timestamptz language sql immutable parallel safe
return date_bin('1 hour', at, timestamptz 'epoch');

-- The rows of order_count that a change belongs to.
create function counts_of(channel text, created_hour timestamptz, updated_hour timestamptz)
returns table (clock text, sales_channel text, unit text, at timestamptz) language sql immutable parallel safe as $$
  select clock, counted, unit, date_bin(length, hour, timestamptz 'epoch')
  from (values ('CREATED', created_hour), ('UPDATED', updated_hour)) as time (clock, hour),
    (values ('HOUR', interval '1 hour'), ('DAY', interval '1 day')) as span (unit, length),
    (values (''), (channel)) as list (counted)
  where counted is not null
$$;

-- The counts at any time: what is merged, and the changes since. Their sum is exact.
create view order_tally with (security_invoker = true) as
select workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status, orders from order_count
union all
select
  workspace_id, counted.clock, counted.sales_channel, counted.unit, counted.at, status, payment_status, fulfillment_status, orders
from order_change, counts_of(order_change.sales_channel, created_hour, updated_hour) as counted;

-- As merge_changes_of makes it, but that a change is in several counts. Returns the number of changes merged. One transaction at a time;
-- another one merges nothing.
create function merge_order_count(batch_size integer) returns bigint language plpgsql as $$
declare
  merged bigint := 0;
begin
  if pg_try_advisory_xact_lock(hashtextextended('merge order_count ' || current_schema(), 0)) then
    with change as (
      delete from order_change where ctid = any(array(select ctid from order_change limit batch_size)) returning *
    ), summed as (
      insert into order_count as known (
        workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status, orders
      )
      select
        workspace_id, counted.clock, counted.sales_channel, counted.unit, counted.at, status, payment_status, fulfillment_status,
        sum(orders)
      from change, counts_of(change.sales_channel, created_hour, updated_hour) as counted
      group by 1, 2, 3, 4, 5, 6, 7, 8
      having sum(orders) <> 0
      on conflict (workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status)
        do update set orders = known.orders + excluded.orders
    )
    select count(*) into merged from change;
  end if;
  return merged;
end
$$;

create function count_orders() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into order_change
    values (
      old.workspace_id, hour_of(uuid_extract_timestamp(old.id)), hour_of(old.updated_at), old.sales_channel,
      old.status, old.payment_status, old.fulfillment_status, -1
    ), (
      new.workspace_id, hour_of(uuid_extract_timestamp(new.id)), hour_of(new.updated_at), new.sales_channel,
      new.status, new.payment_status, new.fulfillment_status, 1
    );
  else
    insert into order_change
    select
      workspace_id, hour_of(uuid_extract_timestamp(id)), hour_of(updated_at), sales_channel,
      status, payment_status, fulfillment_status, case tg_op when 'INSERT' then count(*) else -count(*) end
    from moved group by 1, 2, 3, 4, 5, 6, 7;
  end if;
  return null;
end
$$;

create trigger count_new_orders after insert on sales_order
  referencing new table as moved for each statement execute function count_orders();
create trigger count_deleted_orders after delete on sales_order
  referencing old table as moved for each statement execute function count_orders();
-- Row by row, so that an update that changes no count costs nothing.
create trigger count_changed_orders after update on sales_order
  for each row when (
    (old.status, old.payment_status, old.fulfillment_status) <> (new.status, new.payment_status, new.fulfillment_status)
    or old.sales_channel is distinct from new.sales_channel
    or hour_of(old.updated_at) <> hour_of(new.updated_at)
  ) execute function count_orders();
