-- An erasure also passes through what imports changed and is kept for their undo (OP-130). Replicas of the version before leave this stage out.

alter table customer_erasure
  add column changes_after_import uuid not null default '00000000-0000-0000-0000-000000000000',
  add column changes_after_batch bigint not null default 0,
  drop constraint customer_erasure_stage_check,
  add constraint customer_erasure_stage_check check (stage = any (array['ORDERS', 'CHANGES', 'ANSWERS', 'DONE'])) not valid;
