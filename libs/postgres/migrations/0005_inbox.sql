-- Messages whose effect has no natural unique key, each written in the transaction of its effect: one that comes again finds
-- itself here and changes nothing.
create table inbox (
  workspace_id uuid not null,
  consumer text not null, -- the consumer group, such as catalog.imports
  message_id text not null,
  received_at timestamptz not null default now(),
  primary key (workspace_id, consumer, message_id)
);

create index inbox_age on inbox (workspace_id, received_at);

call wall_off('inbox');

-- A consumer with an inbox works inside the workspace of each record and so as the app role: the worker role would need to reach
-- whatever the effect and its triggers touch, and be kept inside the walls of each of these tables by a policy of its own.
do $$
begin
  execute format('create policy app on parked_key to %I using (true)', current_schema());
end
$$;
