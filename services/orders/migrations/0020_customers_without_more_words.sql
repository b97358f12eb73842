-- without a transaction
-- Customers of before, whose more_words are still to be written.
drop index concurrently if exists customer_without_more_words;
create index concurrently customer_without_more_words on customer (workspace_id, id) where words_version is null;
