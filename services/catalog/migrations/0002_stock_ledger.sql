-- Every movement of stock, written by the database itself, so that a variant's stock always equals the sum of its movements
-- and a deleted variant's movements add up to 0. It has no foreign keys: it outlives what it tells of.
create table stock_movement (
  workspace_id uuid not null,
  id bigint generated always as identity,
  variant_id uuid not null,
  product_id uuid not null,
  delta bigint not null check (delta <> 0),
  reason text not null, -- created, set, deleted; taken, released (of an order); imported
  order_id uuid, -- for taken and released
  actor text not null, -- the id of the key, or what else made the change
  moved_at timestamptz not null default now(),
  primary key (workspace_id, variant_id, id)
);

call wall_off('stock_movement');

-- The reason, the order and the actor are settings of the transaction: app.stock_reason, app.order_id, app.actor.
create function record_stock_movements() returns trigger language plpgsql as $$
declare
  stated text := nullif(current_setting('app.stock_reason', true), '');
  order_id uuid := nullif(current_setting('app.order_id', true), '')::uuid;
  actor text := coalesce(nullif(current_setting('app.actor', true), ''), current_user);
begin
  if tg_op = 'INSERT' then
    insert into stock_movement (workspace_id, variant_id, product_id, delta, reason, order_id, actor)
    select workspace_id, id, product_id, stock, coalesce(stated, 'created'), order_id, actor
    from after where stock <> 0;
  elsif tg_op = 'DELETE' then
    insert into stock_movement (workspace_id, variant_id, product_id, delta, reason, order_id, actor)
    select workspace_id, id, product_id, -stock, 'deleted', null, actor
    from before where stock <> 0;
  else
    insert into stock_movement (workspace_id, variant_id, product_id, delta, reason, order_id, actor)
    select after.workspace_id, after.id, after.product_id, after.stock - before.stock, coalesce(stated, 'set'), order_id, actor
    from before join after using (workspace_id, id)
    where after.stock <> before.stock;
  end if;
  return null;
end
$$;

create trigger stock_of_new_variants after insert on variant
  referencing new table as after for each statement execute function record_stock_movements();
create trigger stock_of_changed_variants after update on variant
  referencing old table as before new table as after for each statement execute function record_stock_movements();
create trigger stock_of_deleted_variants after delete on variant
  referencing old table as before for each statement execute function record_stock_movements();

-- What was there before the ledger. The owner sees all workspaces' rows for this once.
alter table variant no force row level security;
alter table stock_movement no force row level security;
insert into stock_movement (workspace_id, variant_id, product_id, delta, reason, actor)
select workspace_id, id, product_id, stock, 'created', 'migration' from variant where stock <> 0;
alter table variant force row level security;
alter table stock_movement force row level security;
