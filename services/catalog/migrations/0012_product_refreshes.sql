-- Versions of a product that changed only what it refers to, such as the name of a category. `version - refreshes` counts the
-- changes of the product itself: an import is undone where that is as the import left it.
alter table product add column refreshes bigint not null default 0;
