-- For how long the prices of an order at CART hold (OP-214); null: the default.
alter table settings add column cart_price_seconds integer check (cart_price_seconds >= 0);
