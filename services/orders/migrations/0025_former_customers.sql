-- The customers that orders had before their present ones: erasing them finds the form as submitted (OP-130, OP-208).
create table former_customer (
  workspace_id uuid not null,
  customer_id uuid not null,
  order_id uuid not null,
  primary key (workspace_id, customer_id, order_id)
);

call enable_workspace_rls('former_customer');
