-- The images that imports give products by URL (OP-281). A row waits until a worker has fetched its image, and stays
-- with its product, so that the same file adds no image twice.
create table product_image (
  workspace_id uuid not null,
  id bigint generated always as identity,
  product_id uuid not null,
  url text not null,
  position integer not null, -- of the media item
  import_id uuid not null,
  livemode boolean not null,
  traceparent text not null,
  requested_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz default now(), -- null once it is added or has failed for good
  asset_id uuid, -- of the stored file, once it is added
  failure text, -- why the last attempt failed
  primary key (workspace_id, id),
  foreign key (workspace_id, product_id) references product (workspace_id, id) on delete cascade
);

create unique index product_image_url on product_image (workspace_id, product_id, md5(url));
create index product_image_import on product_image (workspace_id, import_id);
create index product_image_waiting on product_image (workspace_id, next_attempt_at) where next_attempt_at is not null;

call enable_workspace_rls('product_image');
call grant_worker('select', 'product_image');
