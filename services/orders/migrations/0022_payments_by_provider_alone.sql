-- contract: the version before refuses a reference by `payment_by_provider`. Rows that have a `sent_reference` keep it.
alter table payment drop constraint payment_reference;
