-- The buyer, as the invoice names it for good (OP-217); null where a replica of the version before issued it.
alter table invoice add column buyer json;

-- Invoices of the erased customer, which keep their buyer (OP-218).
alter table customer_erasure add column invoices bigint not null default 0;
