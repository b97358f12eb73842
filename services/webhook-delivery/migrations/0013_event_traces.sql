-- The trace of the change that an event is about. Attempts link to it, also late ones. Older events have none.
do $$
begin
  for attempts in 1 .. 50
  loop
    begin
      set local lock_timeout = '200ms';
      alter table event add column traceparent text;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise 'others were at the events all the time' using errcode = 'lock_not_available';
end
$$;
