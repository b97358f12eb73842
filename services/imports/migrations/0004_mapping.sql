-- The currency of the prices of a file that names none, such as an export of another platform.
alter table import add column currency text;

-- {source, currency, columns: [{column, target}]}: what the columns of the file became. Null in older imports.
alter table import_finding add column mapping json;
