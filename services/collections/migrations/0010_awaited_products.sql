-- Products that were picked by hand before their state arrived (OP-33). A row is written with the members, and deleted once the state or
-- the deletion of the product has come to them. Replicas of the version before refuse such products and ignore the table.
create table awaited_product (
  workspace_id uuid not null,
  product_id uuid not null,
  awaited_since timestamptz not null default now(),
  primary key (workspace_id, product_id)
);

call enable_workspace_rls('awaited_product');
call grant_worker('select, update, delete', 'awaited_product');
