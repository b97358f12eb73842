-- Keys of apps, which work once they are activated, the end of a key's life, and when a key was used last.

alter table api_key
  add column activated_at timestamptz, -- null: not usable yet
  add column expires_at timestamptz, -- from when on it is refused; null: never
  add column last_used_at timestamptz, -- up to a minute behind
  add column app_key_id uuid; -- of an app's key: the first key of its rotations; they are revoked together

call backfill($$ update api_key set activated_at = created_at $$, 'api_key');

alter table api_key
  alter column activated_at set default now(), -- replicas of before this migration insert keys without it
  add check ((kind = 'app') = (app_key_id is not null)),
  add check (kind = 'app' or activated_at is not null),
  add check (expires_at > created_at);

-- gateway_worker also writes the times of use, of keys of many workspaces in one statement. Replicas remember nothing of them, so
-- they are not announced.
grant update (last_used_at) on api_key to gateway_worker;

drop trigger announce on api_key;
create trigger announce after update on api_key for each row
  when (old.last_used_at is not distinct from new.last_used_at)
  execute function announce_workspace_change();
