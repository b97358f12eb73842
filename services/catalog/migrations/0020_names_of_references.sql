set local lock_timeout = '5s';

-- Categories and tags are the same when their names are (OP-25), so names are looked for in any case, as tags' are
-- (0008), and the slugs of tags are numbered, as those of categories.
-- blocks: all workspaces together have some hundred thousand categories; a million rows take about ten seconds.
alter table category add column folded_name text collate "C" not null generated always as (lower(name) collate "C") stored;

-- blocks: as above
create index category_folded_name on category (workspace_id, folded_name);

-- blocks: as above, of tags
alter table tag
  add column slug_stem text not null generated always as (regexp_replace(slug, '-\d{1,9}$', '')) stored,
  add column slug_number integer not null generated always as (coalesce(substring(slug from '-(\d{1,9})$')::integer, 1)) stored;

-- blocks: as above, of tags
create index tag_slug_family on tag (workspace_id, slug_stem, slug_number);

call number_slugs('tag', 'slug');
