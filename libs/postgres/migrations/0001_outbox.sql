-- Records waiting for Kafka, written in the transaction of the change they tell of and published in the order of `id`.
create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  topic text not null,
  key text not null,
  type text not null,
  workspace_id uuid not null,
  livemode boolean not null,
  payload json, -- null is a tombstone on a compacted topic; json, not jsonb: members keep their order
  traceparent text not null,
  occurred_at timestamptz not null,
  published_at timestamptz,
  refused text -- why it can never be published; set aside until an operator clears this
);

create index outbox_unpublished on outbox (id) where published_at is null and refused is null;
create index outbox_published on outbox (published_at) where published_at is not null;

-- Names the relay, which works across workspaces, in a policy of its own.
do $$
begin
  alter table outbox enable row level security;
  alter table outbox force row level security;
  create policy workspace on outbox
    using (workspace_id = nullif(current_setting('app.workspace_id', true), '')::uuid);
  execute format('create policy worker on outbox to %I using (true)', current_schema() || '_worker');
  execute format('grant select, update, delete on outbox to %I', current_schema() || '_worker');
end
$$;
