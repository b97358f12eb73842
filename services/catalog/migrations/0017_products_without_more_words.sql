-- without a transaction
-- Products of before, whose more_words are still to be written.
drop index concurrently if exists product_without_more_words;
create index concurrently product_without_more_words on product (workspace_id, id) where words_version is null;
