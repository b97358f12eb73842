-- Finds the deliveries of a type (OP-100, OP-249). After this migration it is built for each partition, beside writers.
create index delivery_of_type on only delivery (endpoint_id, event_type, id);
