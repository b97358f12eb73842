-- Uploaded files and the products that show them.
create table asset (
  workspace_id uuid not null,
  id uuid not null,
  path text not null, -- under the assets' base URL, and the key in the storage
  thumbnail_path text, -- null where there is no picture to make one of
  type text not null, -- media type, found from the file's first bytes
  size bigint not null check (size between 1 and 9007199254740991), -- bytes, as stored
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

create table media (
  workspace_id uuid not null,
  id uuid not null,
  product_id uuid not null,
  asset_id uuid not null,
  position integer not null check (position >= 0),
  primary key (workspace_id, id),
  foreign key (workspace_id, product_id) references product on delete cascade,
  foreign key (workspace_id, asset_id) references asset,
  constraint media_asset unique (workspace_id, product_id, asset_id)
);

create index media_asset_uses on media (workspace_id, asset_id);

call wall_off('asset', 'media');
