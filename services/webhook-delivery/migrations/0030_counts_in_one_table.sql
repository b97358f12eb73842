-- What was counted before migration 0011 is long moved, but for a backup of that time. From this version on only the new table is read.
-- The version before reads `delivery_count` and calls `move_delivery_counts`: a later one drops both.
select move_delivery_counts(0, 2147483647);
