-- without a transaction
-- No release looks for keys that are to be registered any more. The column goes with the next version: the one before reads whole rows.
drop index concurrently if exists installation_unregistered;
