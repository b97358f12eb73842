-- without a transaction
-- Invoices of a workspace are listed, and read by their ids (OP-205).
drop index concurrently if exists invoice_id;
create unique index concurrently invoice_id on invoice (workspace_id, id);
alter table sales_order validate constraint sales_order_refunded;
