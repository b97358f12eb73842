-- A new token of an operator ends the links to sessions of support that whoever had the old one may have made.
set local lock_timeout = '5s';

call grant_worker('select, update (used_at)', 'page_link');
