-- without a transaction
alter table page_link validate constraint page_link_page_check;
alter table page_link validate constraint page_link_target;
