-- Paid orders at CART, each written with the payment that settles it: to be placed until that is done or refused (OP-47).
create table placement (
  workspace_id uuid not null,
  order_id uuid not null,
  livemode boolean not null,
  attempts integer not null default 0,
  reason text, -- why the last attempt failed
  next_attempt_at timestamptz, -- null once it is refused
  created_at timestamptz not null,
  primary key (workspace_id, order_id)
);

create index placement_due on placement (workspace_id, next_attempt_at) where next_attempt_at is not null;
create index placement_age on placement (created_at);

call enable_workspace_rls('placement');
call grant_worker('select', 'placement');
