-- Quantities that left placed orders: given up before they were sent (OP-209), or come back afterwards (OP-210). `amount` is by how much
-- the total fell; an invoice keeps the total that it was issued for. A repeated reference is the same request.
create table cancellation (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  items json not null,
  amount bigint not null,
  reference text,
  created_at timestamptz not null,
  primary key (workspace_id, order_id, id),
  constraint cancellation_reference unique (workspace_id, order_id, reference)
);

create table goods_return (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  items json not null,
  amount bigint not null,
  reference text not null,
  created_at timestamptz not null,
  primary key (workspace_id, order_id, id),
  constraint goods_return_reference unique (workspace_id, order_id, reference)
);

call enable_workspace_rls('cancellation', 'goods_return');
call grant_worker('select (workspace_id, order_id, amount)', 'cancellation');
call grant_worker('select (workspace_id, order_id, items, amount)', 'goods_return');

-- A line of which nothing is left stays, with the quantity 0: `fulfilled` between 0 and `quantity` still holds.
alter table order_item drop constraint order_item_quantity_check;
alter table sales_order
  drop constraint sales_order_total_items_check,
  add constraint sales_order_total_items_check check (total_items >= 0) not valid;
