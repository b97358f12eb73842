-- collection_slug_families: the numbers of derived handles (decision 002).
call number_slugs('collection', 'handle');
