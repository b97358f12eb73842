-- Changes of all products of a category or a tag, which may be a million. The request that makes one inserts a row here, and a worker
-- makes it in chunks (decision 017).
set local lock_timeout = '3s';

-- The slug of a category or tag that is deleted, and that products still have. `slug` then has a value that no request can name, so
-- that the slug can be used again. The worker deletes the row after its last product.
alter table category add column deleted_slug text;
alter table tag add column deleted_slug text;

create table member_change (
  workspace_id uuid not null,
  id bigint generated always as identity,
  -- What the products show of a category has changed; a category, or a tag, has been deleted.
  kind text not null check (kind in ('CATEGORY_SHOWN', 'CATEGORY_DELETED', 'TAG_DELETED')),
  of_id uuid not null, -- the category or tag
  reassign_to uuid, -- the category that the products of a deleted one move to
  reached uuid, -- the last product that CATEGORY_SHOWN has handled; null before the first
  livemode boolean not null,
  traceparent text not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, reassign_to) references category
);

-- A further change of what a category shows needs no second row before the worker has begun with the first.
create unique index member_change_waiting on member_change (workspace_id, of_id, kind) where reached is null;

call enable_workspace_rls('member_change');
call grant_worker('select', 'member_change'); -- to find the workspaces that have some
