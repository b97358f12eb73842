-- product_slug_families and category_slug_families: the numbers of derived slugs (decision 002).
call number_slugs('product', 'slug');
call number_slugs('category', 'slug');
