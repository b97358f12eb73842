-- The orders of erased customers, and their last change before: events of them until then, without a customer, are redacted, too (OP-139).
create table erased_order (
  workspace_id uuid not null,
  order_id uuid not null,
  customer_id uuid not null,
  last_change timestamptz not null,
  primary key (workspace_id, order_id, customer_id)
);

call enable_workspace_rls('erased_order');
call grant_worker('select, insert, update, delete', 'erased_order');
