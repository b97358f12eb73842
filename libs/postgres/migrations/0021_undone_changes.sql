-- The worker role deletes the changes of an expired undo in pieces, before the undo: with it they would go in one statement, and an
-- import may have millions.
call grant_worker('select, delete', 'undone_change');
