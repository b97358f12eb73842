-- States and deletions of products that the consumer does not apply at once: another transaction has the membership lock of their
-- workspace, or the workspace has more than its share of a batch. A worker applies them, workspace after workspace. Replicas of the
-- version before pass the table over; the versions of states decide then.
create table queued_product (
  workspace_id uuid not null,
  product_id uuid not null,
  partition integer not null, -- of catalog.products; who writes the row holds the lock of this partition
  version bigint, -- the catalog's; null once the product is deleted
  state json, -- the newest record's value; null once the product is deleted
  bytes integer not null, -- of the state
  queued_at timestamptz not null default now(), -- the first of the records that wait: the oldest row is next
  refused text, -- why the state cannot be applied; the row waits for a newer state
  primary key (workspace_id, product_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create index queued_product_waiting on queued_product (workspace_id, queued_at, product_id) where refused is null;
create index queued_product_refused on queued_product (workspace_id) where refused is not null;
create index queued_product_by_id on queued_product (product_id); -- a deletion does not name the workspace

call enable_workspace_rls('queued_product');
call grant_worker('select, insert, update, delete', 'queued_product');
