-- Each replica inserts recoveries in the form of 0014.
-- contract: since the version of 0014 no replica inserts one without `deliveries`
drop trigger from_version_before on recovery;
-- contract: only the trigger called it
drop function take_over_recovery();
