-- The reservations of failed attempts to place a paid order that catalog may still hold (OP-47, OP-136).
alter table placement add column released uuid[] not null default '{}';
