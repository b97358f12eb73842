-- `npm run check-orders -w services/orders` compares the orders with what catalog has taken for them.
call grant_worker('select (workspace_id, order_id, state, lines)', 'stock_reservation');
