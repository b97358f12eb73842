-- Products that changed through something else (stock taken by an order, a tag deleted, a category renamed), waiting for their
-- new state to be published. Written in the transaction of that change, worked off in chunks of any workspace.
create table product_refresh (
  workspace_id uuid not null,
  id bigint generated always as identity,
  product_id uuid not null,
  is_change boolean not null, -- whether product.updated fires; without it only catalog.products is brought up to date
  livemode boolean not null,
  traceparent text not null,
  requested_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

call wall_off('product_refresh');
call let_worker('select', 'product_refresh'); -- to find the workspaces that have some
