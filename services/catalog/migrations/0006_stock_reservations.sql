-- What each order has taken from stock. The row is the order's turn: it is written before any stock moves, so that a take and
-- a release of one order, sent at once or sent again, follow each other.
create table stock_reservation (
  workspace_id uuid not null,
  order_id uuid not null,
  state text not null check (state in ('TAKEN', 'RELEASED')),
  lines json not null, -- [{variant, product, sku, quantity}], a variant once, in id order; [] when released without a take
  taken_at timestamptz,
  released_at timestamptz,
  primary key (workspace_id, order_id)
);

call wall_off('stock_reservation');

-- The ledger check adds up every workspace's movements.
call let_worker('select (workspace_id, id, stock)', 'variant');
call let_worker('select (workspace_id, variant_id, delta)', 'stock_movement');
