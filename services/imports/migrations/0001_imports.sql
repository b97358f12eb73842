-- An import: a file, what validation found in it, and how far it is applied. Deleted 30 days after its last change.
create table import (
  workspace_id uuid not null,
  id uuid not null, -- UUIDv7
  template text not null,
  file text not null, -- the client's name for it
  bytes bigint not null,
  sha256 text not null, -- of the content, base64
  encoding text not null, -- as TextDecoder names it
  livemode boolean not null,
  product_statuses text[] not null, -- those that the workspace used when the file was uploaded, then when it was started
  status text not null check (status in (
    'UPLOADED', 'VALIDATING', 'VALIDATED', 'INVALID', 'IMPORTING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED'
  )),
  failure text, -- why it FAILED, or will when its last batch is answered
  same_as uuid, -- an import of the same content in the 24 hours before
  total_rows bigint not null default 0,
  valid_rows bigint not null default 0,
  invalid_rows bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  failed bigint not null default 0,
  -- Validation: one replica at a time has the claim, and renews it while it works.
  claim uuid, -- also the name of the folder of its findings
  claimed_at timestamptz,
  claimed_until timestamptz,
  claims integer not null default 0, -- of which none came to an end
  failing_since timestamptz, -- since when neither storage nor owner let it go on
  -- Applying: the valid rows are in batches, numbered from 0.
  batches integer not null default 0,
  next_batch integer not null default 0, -- the first batch that is not published yet
  -- No batch from this one on will be answered: all batches, or those that were published before it was cancelled or one was rejected.
  ends_at_batch integer,
  answered_batches integer not null default 0,
  sent_at timestamptz, -- when a batch was last published
  started_at timestamptz,
  ended_at timestamptz, -- when it had a final state and no batch was under way any more
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

create index import_same_content on import (workspace_id, sha256, created_at);
create index import_to_validate on import (workspace_id, created_at) where status in ('UPLOADED', 'VALIDATING');
create index import_claimed on import (workspace_id, claimed_at);
create index import_to_apply on import (workspace_id, started_at, id) where started_at is not null and ended_at is null;
create index import_unchanged_since on import (updated_at);

-- The valid rows of an import, as JSON in the file of its rows: where each batch is, and what became of it.
create table import_batch (
  workspace_id uuid not null,
  import_id uuid not null,
  batch integer not null,
  first_byte bigint not null,
  bytes integer not null,
  rows integer not null,
  -- The answer of the service that applied it.
  created integer,
  updated integer,
  failed integer,
  errors json, -- [{row, column, code, message, value}] of the failed rows
  primary key (workspace_id, import_id, batch),
  foreign key (workspace_id, import_id) references import (workspace_id, id) on delete cascade
);

create index import_batch_failed on import_batch (workspace_id, import_id, batch) where failed > 0;

-- What validation found: the first errors, and what applying would do.
create table import_finding (
  workspace_id uuid not null,
  import_id uuid not null,
  errors json not null, -- the first 1,000: [{row, column, code, message, value}]
  diff json not null,
  primary key (workspace_id, import_id),
  foreign key (workspace_id, import_id) references import (workspace_id, id) on delete cascade
);

call enable_workspace_rls('import', 'import_batch', 'import_finding');
-- Workers choose among the imports of all workspaces, and act on one as the app role.
call grant_worker('select', 'import');
