-- What is due soon, whatever waits for later: replicas look here each second. A row is in this index while it is in `delivery_due`, so a
-- first attempt sent from memory never enters it. Writers wait for the build; it gives up where it would have to wait for them itself.
set local lock_timeout = '5s';
create index delivery_due_soon on delivery (due_at) where due_at is not null and claimed_by is null;
