-- The relay takes waiting rows workspace by workspace, those of webhook events apart from all others. The relay of an old replica goes
-- on with outbox_unpublished.
create index outbox_waiting_events on outbox (workspace_id, id)
  where published_at is null and refused is null and topic like '%.events';
create index outbox_waiting_others on outbox (workspace_id, id)
  where published_at is null and refused is null and topic not like '%.events';
