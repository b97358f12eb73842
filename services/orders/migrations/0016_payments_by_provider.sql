-- An order has one payment of a provider and reference (OP-215). Replicas of the version before insert `on conflict
-- (workspace_id, order_id, reference)`, so that constraint stays: a payment whose reference another provider of the order has
-- is stored under another one, and has its own here. Once no replica of that version is left, the constraint goes, these
-- few rows get their references, and then this column goes.
alter table payment add column sent_reference text; -- null: `reference`
