set local lock_timeout = '5s';

-- What an app has acknowledged is brought to its end, however late.
-- blocks: of an app that has acknowledged a call is left for a moment only
call backfill('update call set expires_at = ''infinity'' where kind = ''provision'' and acknowledged_origin is not null', 'call');

-- A trigger, so that it holds for replicas of the versions before as well: they give up what has expired, and every attempt begins with an
-- update of its row.
create function keep_acknowledged() returns trigger language plpgsql as $$
begin
  new.expires_at := 'infinity';
  return new;
end
$$;
create trigger keep_acknowledged before update on call for each row
  when (new.kind = 'provision' and new.acknowledged_origin is not null) execute function keep_acknowledged();
