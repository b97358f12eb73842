create table customer (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7
  firstname text not null,
  lastname text,
  email text, -- as it was sent
  phone text,
  note text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

-- An e-mail address belongs to one customer of a workspace, whatever its case (OP-40).
create unique index customer_email on customer (workspace_id, lower(email));

-- The workspace's own form for new orders, a JSON Schema (OP-41). Without a row the default form alone holds.
create table order_form_schema (
  workspace_id uuid primary key,
  version bigint not null, -- raised with each change
  schema json, -- null: reset
  updated_at timestamptz not null
);

create table sales_order (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7
  order_number text not null,
  status text not null check (status in ('CART', 'PLACED', 'COMPLETED', 'CANCELLED')),
  payment_status text not null check (payment_status in ('UNPAID', 'PARTIALLY_PAID', 'PAID', 'REFUNDED')),
  fulfillment_status text not null check (fulfillment_status in ('UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED')),
  sales_channel text,
  currency text not null,
  customer_id uuid, -- no foreign key: the order outlives its customer
  -- Amounts in minor units of the currency. The total is at most 2^53-1, as are its parts.
  subtotal_price bigint not null check (subtotal_price >= 0),
  total_shipping bigint not null check (total_shipping >= 0),
  total_tax bigint not null check (total_tax >= 0),
  total_discount bigint not null check (total_discount between 0 and subtotal_price),
  total_price bigint not null check (total_price = subtotal_price + total_shipping + total_tax - total_discount),
  total_items bigint not null check (total_items > 0),
  paid bigint not null default 0 check (paid >= 0), -- the sum of its payments, which may be above the total (OP-47)
  shipping_address json,
  note text,
  order_datetime timestamptz not null,
  promise_date date,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  constraint sales_order_number unique (workspace_id, order_number)
);

create index sales_order_customer on sales_order (workspace_id, customer_id, id) where customer_id is not null;

create table order_item (
  workspace_id uuid not null,
  order_id uuid not null,
  position integer not null,
  id uuid not null,
  -- What catalog had when it was ordered.
  variant_id uuid not null,
  title text not null,
  sku text not null,
  quantity bigint not null check (quantity > 0),
  unit_price bigint not null check (unit_price >= 0),
  negotiated_unit_price bigint check (negotiated_unit_price >= 0),
  total_price bigint not null check (total_price = quantity * coalesce(negotiated_unit_price, unit_price)),
  fulfilled bigint not null default 0 check (fulfilled between 0 and quantity),
  primary key (workspace_id, order_id, position)
);

-- The order form as it was sent, with members that the order body does not have (OP-41).
create table order_form (
  workspace_id uuid not null,
  order_id uuid not null,
  form json not null,
  primary key (workspace_id, order_id)
);

create table payment (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null, -- UUIDv7
  reference text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  provider text,
  metadata json not null,
  created_at timestamptz not null,
  primary key (workspace_id, order_id, id),
  constraint payment_reference unique (workspace_id, order_id, reference)
);

-- The number of the workspace's last invoice. Incremented in the transaction of the invoice, as late as possible: a rollback leaves
-- no gap, and the row's lock is held for the commit alone (OP-45).
create table invoice_counter (
  workspace_id uuid primary key,
  last bigint not null
);

create table invoice (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  number bigint not null,
  currency text not null,
  total bigint not null,
  status text not null check (status in ('ISSUED', 'PAID')),
  created_at timestamptz not null,
  primary key (workspace_id, order_id), -- one per order
  constraint invoice_number unique (workspace_id, number)
);

create table fulfillment (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null, -- UUIDv7
  items json not null, -- [{id, quantity}]
  created_at timestamptz not null,
  primary key (workspace_id, order_id, id)
);

-- The stock of an order at catalog. The row is committed before catalog takes anything, so that nothing taken is forgotten.
create table reservation (
  workspace_id uuid not null,
  id uuid not null, -- the `order` that catalog knows
  order_id uuid not null, -- may not exist yet
  state text not null check (state in (
    'TAKING', -- catalog may have taken the stock; ends as HELD, or is deleted when the stock is released
    'HELD' -- the order is placed
  )),
  -- For the record that releases it, when a worker finds it left over.
  livemode boolean not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

create unique index reservation_held on reservation (workspace_id, order_id) where state = 'HELD';
create index reservation_taking on reservation (created_at) where state = 'TAKING';

call enable_workspace_rls(
  'customer', 'order_form_schema', 'sales_order', 'order_item', 'order_form', 'payment', 'invoice_counter', 'invoice',
  'fulfillment', 'reservation'
);
call grant_worker('select, delete', 'reservation');
