-- An erasure stays after its last pass, since a replay can bring an event of long before it (OP-139).

alter table erasure alter column next_pass_at drop not null; -- null after the last pass
