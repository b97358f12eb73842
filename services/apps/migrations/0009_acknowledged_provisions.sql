set local lock_timeout = '5s';

alter table call add column acknowledged_origin text; -- of a provision: the app has the key there, and is not asked again
