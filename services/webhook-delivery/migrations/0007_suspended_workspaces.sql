-- Workspaces whose deliveries wait (decision 025). After the end of a suspension the row stays: for a moment first attempts come from the
-- table only, so that no new one overtakes what waited (OP-74).
create table suspended_workspace (
  workspace_id uuid primary key,
  changed_at timestamptz not null, -- by the operator: an older record changes nothing
  resumed_at timestamptz -- null while it is suspended; by the clock of this service
);

call enable_workspace_rls('suspended_workspace');
call grant_worker('select', 'suspended_workspace');
