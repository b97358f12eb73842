-- without a transaction
drop index concurrently if exists payment_by_provider;
create unique index concurrently payment_by_provider
  on payment (workspace_id, order_id, provider, (coalesce(sent_reference, reference))) nulls not distinct;
