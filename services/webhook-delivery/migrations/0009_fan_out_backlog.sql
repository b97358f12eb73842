-- Events whose deliveries are still to be inserted: those of a workspace with many deliveries, in the order of their records. The fan-out
-- stores such an event once, so that it costs the other workspaces as little as one without endpoints. Replicas of the version before
-- ignore the table.
create table fan_out_backlog (
  workspace_id uuid not null,
  event_id uuid not null,
  position bigint generated always as identity,
  endpoint_ids uuid[] not null, -- the endpoints that get it, as of its record (OP-97)
  deliveries integer not null, -- their number
  bytes integer not null, -- the size of the event's body
  claimed_by integer, -- the claimer that inserts the deliveries; the first attempts about one thing stay with one process (OP-74)
  primary key (workspace_id, event_id)
);

create index fan_out_backlog_in_turn on fan_out_backlog (claimed_by, workspace_id, position);

call enable_workspace_rls('fan_out_backlog');
call grant_worker('select, insert, update, delete', 'fan_out_backlog');
