-- Attempts outside the schedule (OP-60, OP-66), and what a list of deliveries is filtered by. Replicas of the version before go on
-- working: they leave event_type out, and ask for delivery_ready, which a later migration drops.
alter table delivery
  add column event_type text,
  add column resends_made integer not null default 0, -- those of attempts_made that were outside the schedule
  add column resend_at timestamptz, -- an attempt outside the schedule was asked for
  add column due_at timestamptz generated always as (least(next_attempt_at, resend_at)) stored;

-- The owner sees all workspaces' rows for this once.
alter table event no force row level security;
alter table delivery no force row level security;
update delivery set event_type = event.type
from event where event.workspace_id = delivery.workspace_id and event.id = delivery.event_id;
alter table event force row level security;
alter table delivery force row level security;

-- As delivery_ready a queue per endpoint (0001), of whatever is due.
create index delivery_due on delivery (endpoint_id, due_at, id) where due_at is not null and claimed_by is null;

create index delivery_failed on delivery (workspace_id, endpoint_id, id) where status = 'FAILED';

-- Requests to send again what failed since some time, worked off some at a time: `after_id` is how far it has come.
create table recovery (
  workspace_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  since timestamptz not null,
  until timestamptz not null,
  after_id uuid not null default '00000000-0000-0000-0000-000000000000',
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references endpoint on delete cascade
);

create index recovery_of_endpoint on recovery (workspace_id, endpoint_id);

call wall_off('recovery');
call let_worker('select, update, delete', 'recovery');
