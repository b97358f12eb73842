-- Products with their variants, options, categories and tags.
-- Every key leads with workspace_id, so that no row can refer to another workspace's.

create table product (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  slug text not null,
  -- 'shirt-12' is member 12 of the family 'shirt', 'shirt' is member 1: the next free suffix is one index look-up away.
  slug_stem text not null generated always as (regexp_replace(slug, '-\d{1,9}$', '')) stored,
  slug_number integer not null generated always as (coalesce(substring(slug from '-(\d{1,9})$')::integer, 1)) stored,
  type text not null check (type in ('SIMPLE_PRODUCT', 'VARIABLE_PRODUCT', 'VIRTUAL_PRODUCT')),
  status text not null check (status in ('ACTIVE', 'HIDDEN', 'ARCHIVED')),
  description text,
  requires_shipping boolean not null,
  can_preorder boolean not null,
  preorder_stops_at timestamptz,
  max_cart_quantity bigint check (max_cart_quantity between 0 and 9007199254740991),
  low_stock_threshold bigint check (low_stock_threshold between 0 and 9007199254740991),
  purchase_note text,
  tax_class uuid,
  version bigint not null default 1, -- counts the product's changes; projections never go back
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  constraint product_slug unique (workspace_id, slug)
);

create index product_slug_family on product (workspace_id, slug_stem, slug_number);

create table variant (
  workspace_id uuid not null,
  id uuid not null,
  product_id uuid not null,
  sku text not null check (length(sku) between 1 and 255),
  stock bigint not null check (stock between -9007199254740991 and 9007199254740991),
  price jsonb not null, -- amounts in minor units by currency code
  cost jsonb not null,
  attributes jsonb not null, -- option id → chosen value; {} for the default variant
  position integer not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, product_id) references product on delete cascade,
  constraint variant_sku unique (workspace_id, sku)
);

-- One variant per combination; the digest keeps long combinations within what an index row can hold.
create unique index variant_combination on variant (workspace_id, product_id, md5(attributes::text));

create table option (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  primary key (workspace_id, id),
  unique (workspace_id, name)
);

create table option_value (
  workspace_id uuid not null,
  option_id uuid not null,
  value text not null check (length(value) between 1 and 255),
  primary key (workspace_id, option_id, value),
  foreign key (workspace_id, option_id) references option on delete cascade
);

create table product_option (
  workspace_id uuid not null,
  product_id uuid not null,
  option_id uuid not null,
  position integer not null,
  chosen_values text[] not null,
  primary key (workspace_id, product_id, option_id),
  foreign key (workspace_id, product_id) references product on delete cascade,
  foreign key (workspace_id, option_id) references option
);

create table category (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  slug text not null,
  parent_id uuid,
  position integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, parent_id) references category,
  constraint category_slug unique (workspace_id, slug)
);

create index category_name on category (workspace_id, name);

create table product_category (
  workspace_id uuid not null,
  product_id uuid not null,
  category_id uuid not null,
  position integer not null,
  primary key (workspace_id, product_id, category_id),
  foreign key (workspace_id, product_id) references product on delete cascade,
  foreign key (workspace_id, category_id) references category
);

create index product_category_members on product_category (workspace_id, category_id);

create table tag (
  workspace_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  slug text not null,
  primary key (workspace_id, id),
  constraint tag_slug unique (workspace_id, slug)
);

create table product_tag (
  workspace_id uuid not null,
  product_id uuid not null,
  tag_id uuid not null,
  position integer not null,
  primary key (workspace_id, product_id, tag_id),
  foreign key (workspace_id, product_id) references product on delete cascade,
  foreign key (workspace_id, tag_id) references tag
);

create index product_tag_members on product_tag (workspace_id, tag_id);

call wall_off(
  'product', 'variant', 'option', 'option_value', 'product_option', 'category', 'product_category', 'tag', 'product_tag'
);
