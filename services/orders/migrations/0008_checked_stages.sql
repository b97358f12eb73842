-- without a transaction
alter table customer_erasure validate constraint customer_erasure_stage_check;
