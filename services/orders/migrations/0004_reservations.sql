-- `npm run check-orders` reads every workspace's orders, without what customers have entered.
call grant_worker(
  'select (workspace_id, id, status, payment_status, fulfillment_status, subtotal_price, total_shipping, total_tax, total_discount,
    total_price, total_items, paid, updated_at)',
  'sales_order'
);
call grant_worker('select (workspace_id, order_id, id, variant_id, quantity, total_price, fulfilled)', 'order_item');
call grant_worker('select (workspace_id, order_id, amount)', 'payment');
call grant_worker('select (workspace_id, last)', 'invoice_counter');
call grant_worker('select (workspace_id, order_id, number, total, status)', 'invoice');
call grant_worker('select (workspace_id, order_id, items)', 'fulfillment');
