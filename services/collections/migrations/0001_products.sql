-- The projection of catalog.products: what rules ask for, what collections are ordered by, and the body that is shown.
create table product (
  workspace_id uuid not null,
  id uuid not null,
  version bigint not null, -- the catalog's: an older state never replaces a newer one
  -- Texts that are compared are folded (fold.ts): whoever compares folds what it compares with.
  name text collate "C" not null,
  skus text collate "C" not null, -- of all variants, each between line breaks, which no SKU contains
  type text not null,
  status text not null,
  categories text[] not null, -- ids and slugs
  tags text[] not null, -- ids, slugs and folded names
  prices jsonb not null, -- by currency, the variants' different amounts in ascending order: {"EUR": [900, 1000]}
  costs jsonb not null,
  stock bigint not null,
  requires_shipping boolean not null,
  can_preorder boolean not null,
  created_at timestamptz not null,
  body json not null, -- the product's body exactly as the API shows it
  projected_at timestamptz not null default now(), -- a rebuild deletes what it does not find and was not written since it began
  primary key (workspace_id, id)
);

create index product_by_id on product (id); -- a deletion does not tell the workspace

-- Products that were deleted, so that no state which comes late brings one back, also one that was not known yet. A deletion tells
-- no workspace; ids are never given again.
create table deleted_product (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);

create index deleted_product_age on deleted_product (deleted_at);

alter table deleted_product enable row level security;
alter table deleted_product force row level security;

call wall_off('product');
call let_worker('select, insert, update, delete', 'product', 'deleted_product');
