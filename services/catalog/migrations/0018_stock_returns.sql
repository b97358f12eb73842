-- The parts of reservations that orders has given back, each once (OP-212). A reservation's lines are what is left of it.
create table stock_return (
  workspace_id uuid not null,
  id uuid not null, -- of the cancellation, or of the return of goods, at orders
  order_id uuid not null, -- of the reservation, as in stock_reservation
  returned_at timestamptz not null,
  primary key (workspace_id, id)
);

call enable_workspace_rls('stock_return');
