-- When the prices of an order were last taken from catalog; null for when it was created (OP-214).
alter table sales_order add column priced_at timestamptz;
