-- Reservations of failed attempts to place an order, paid or not, that catalog may still hold (OP-47, OP-136).
create table released_attempt (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null,
  released_at timestamptz not null default now(),
  primary key (workspace_id, order_id, id)
);
create index released_attempt_age on released_attempt (workspace_id, released_at);

call enable_workspace_rls('released_attempt');
