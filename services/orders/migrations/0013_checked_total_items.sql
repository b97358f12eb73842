-- without a transaction
alter table sales_order validate constraint sales_order_total_items_check;
