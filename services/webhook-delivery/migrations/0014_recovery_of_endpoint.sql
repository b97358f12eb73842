-- An endpoint has one recovery (OP-195): the open one, else the last one. The first statement keeps all others from the table until the end.
alter table recovery
  add column status text not null default 'RUNNING' check (status in ('RUNNING', 'COMPLETED', 'CANCELLED')),
  add column deliveries bigint, -- how many were FAILED at the start
  add column sent_again bigint not null default 0,
  add column ended_at timestamptz,
  add column next_step_at timestamptz not null default now();

-- For a recovery that a replica of the version before started: counted by whole hours.
create function failed_since(of_workspace uuid, of_endpoint uuid, since timestamptz) returns bigint language sql stable as $$
  select coalesce(sum(deliveries), 0)::bigint from delivery_count
  where workspace_id = of_workspace and endpoint_id = of_endpoint and status = 'FAILED' and hour > since - interval '1 hour'
$$;

-- Of several open recoveries the one that is least far goes on for all.
-- blocks: a recovery is deleted when it has ended, so few rows are here
call backfill($$
  update recovery as kept set since = first.since, until = first.until, deliveries = failed_since(kept.workspace_id, kept.endpoint_id, first.since)
  from (
    select distinct on (workspace_id, endpoint_id) workspace_id, id, min(since) over of_endpoint as since, max(until) over of_endpoint as until
    from recovery window of_endpoint as (partition by workspace_id, endpoint_id)
    order by workspace_id, endpoint_id, after_id, id
  ) as first
  where kept.workspace_id = first.workspace_id and kept.id = first.id
$$, 'recovery');
-- blocks: few rows, as above
call backfill('delete from recovery where deliveries is null', 'recovery');

drop index recovery_of_endpoint;
-- blocks: few rows, as above
create unique index recovery_of_endpoint on recovery (workspace_id, endpoint_id);
-- blocks: few rows, as above
create index recovery_in_turn on recovery (workspace_id, next_step_at) where status = 'RUNNING';

-- Replicas of the version before insert a recovery while another one is open. It takes its place, and does the rest of it, too. They take
-- an ended one for open: its `after_id` lets them find nothing, and they delete it.
create function take_over_recovery() returns trigger language plpgsql as $$
declare
  former recovery;
begin
  delete from recovery where workspace_id = new.workspace_id and endpoint_id = new.endpoint_id returning * into former;
  if former.status = 'RUNNING' then
    new.since := least(new.since, former.since);
    new.after_id := least(new.after_id, former.after_id);
  end if;
  new.deliveries := failed_since(new.workspace_id, new.endpoint_id, new.since);
  return new;
end
$$;

create trigger from_version_before before insert on recovery for each row when (new.deliveries is null)
  execute function take_over_recovery();
