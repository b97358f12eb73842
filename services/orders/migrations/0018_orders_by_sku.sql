-- without a transaction
-- Lists of the orders that have an item with a SKU (OP-219).
drop index concurrently if exists order_item_sku;
create index concurrently order_item_sku on order_item (workspace_id, sku, order_id);
