set local lock_timeout = '5s';

-- When the invoice became PAID (OP-203). Null where it is not, and where a replica of the version before made it so: until then every
-- refund after the invoice got its credit note.
alter table invoice add column paid_at timestamptz;
do $$
begin
  execute format('grant select (paid_at) on invoice to %I', current_schema() || '_worker');
end
$$;
