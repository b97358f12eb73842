-- What bounds the resends of a delivery (OP-122). Replicas of the version before leave these columns out: their resends are not counted,
-- and their attempts do not say whether they were on the schedule. All changes here are of the catalogue alone.
select lock_partitioned();

alter table delivery
  add column resend_day date, -- the day in UTC, by the clock of the database, of the latest request to send it again
  add column resends_that_day integer not null default 0; -- the attempts that were asked for on that day
alter table attempt add column is_resend boolean; -- outside the schedule; null: written before this migration
