-- Two queues per endpoint, first attempts and the others, so that what waits in one costs nothing when another is asked for (OP-74). A
-- row is in this index or in none: a first attempt sent from memory never enters it. Writers wait meanwhile; replicas of the version
-- before go on working.
drop index delivery_due;
create index delivery_due on delivery (endpoint_id, (attempts_made > 0), due_at, id) where due_at is not null and claimed_by is null;
