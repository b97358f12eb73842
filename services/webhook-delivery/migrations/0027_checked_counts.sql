-- without a transaction
alter table daily_count validate constraint daily_count_kind_check;
