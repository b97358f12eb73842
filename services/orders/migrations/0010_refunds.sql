-- Refunds of orders, and a credit note for each refund of an order that has an invoice (OP-201, OP-203).

-- Old replicas neither read nor write it.
alter table sales_order add column refunded bigint not null default 0; -- the sum of its refunds
-- contract: old replicas leave `refunded` as it is and never lower `paid`, so none of their rows is refused
alter table sales_order add constraint sales_order_refunded check (refunded between 0 and paid) not valid;

-- Old replicas do not subtract refunds. Where that makes a difference their change is refused as if the order were locked, so that the
-- client sends it again, and soon to a new replica (OP-202). A version without old replicas drops the trigger.
create function refuse_uncounted_refunds() returns trigger language plpgsql as $$
begin
  raise exception 'this replica does not count the refunds of order %', new.id using errcode = 'lock_not_available';
end
$$;

create trigger uncounted_refunds before update on sales_order
  for each row when (
    new.refunded > 0 and (
      (new.payment_status = 'PAID' and old.payment_status <> 'PAID' and new.paid - new.refunded < new.total_price)
      or (new.payment_status = 'REFUNDED' and new.refunded < new.paid)
    )
  ) execute function refuse_uncounted_refunds();

create table refund (
  workspace_id uuid not null,
  order_id uuid not null,
  id uuid not null, -- UUIDv7
  payment_id uuid, -- null: of the order's payments as a whole
  amount bigint not null check (amount > 0),
  currency text not null,
  reference text not null,
  reason text,
  created_at timestamptz not null,
  primary key (workspace_id, order_id, id),
  constraint refund_reference unique (workspace_id, order_id, reference)
);

-- As invoice_counter.
create table credit_note_counter (
  workspace_id uuid primary key,
  last bigint not null
);

create table credit_note (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7
  number bigint not null,
  order_id uuid not null,
  invoice_id uuid not null,
  refund_id uuid not null,
  currency text not null,
  total bigint not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  constraint credit_note_number unique (workspace_id, number),
  constraint credit_note_refund unique (workspace_id, order_id, refund_id) -- one per refund
);

call enable_workspace_rls('refund', 'credit_note_counter', 'credit_note');
-- `npm run check-orders` compares them.
call grant_worker('select (workspace_id, order_id, id, payment_id, amount, created_at)', 'refund');
call grant_worker('select (workspace_id, last)', 'credit_note_counter');
call grant_worker('select (workspace_id, order_id, refund_id, number, total)', 'credit_note');

do $$
declare
  worker text := quote_ident(current_schema() || '_worker');
begin
  execute 'grant select (refunded) on sales_order to ' || worker;
  execute 'grant select (id) on payment to ' || worker;
  execute 'grant select (created_at) on invoice to ' || worker;
end
$$;
