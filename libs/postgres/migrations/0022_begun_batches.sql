-- What became of the first rows of an import's batch that takes several transactions, until the last of them answers.
set local lock_timeout = '5s';

create table begun_batch (
  workspace_id uuid not null,
  import_id uuid not null,
  batch integer not null,
  rows json not null, -- as in the answer: [{row, status, errors}]
  primary key (workspace_id, import_id, batch)
);

call enable_workspace_rls('begun_batch');
