-- +goose Up

-- Bodies, each once whatever page it comes with. They are compressed by zstd already; EXTERNAL keeps
-- PostgreSQL from trying again.
create table body (
	sha256    bytea primary key check (octet_length(sha256) = 32),
	size      bigint not null check (size > 0),
	data      bytea not null,
	stored_at timestamptz not null default now()
);
alter table body alter column data set storage external;

-- One row a visit. A row is never changed. url_id begins with its host's hash, so that the rows of a
-- host lie together.
create table page (
	crawl        text not null,
	url_id       bytea not null check (octet_length(url_id) = 16),
	visit        integer not null check (visit > 0),
	url          text not null,
	host         text not null,
	kind         text not null,
	code         integer not null,
	fetched_at   timestamptz not null,
	took_ms      bigint not null,
	release      bigint not null,
	depth        integer not null,
	hops         integer not null,
	proto        text not null,
	remote       text not null,
	size         bigint not null,
	received     bigint not null,
	truncated    text not null,
	location     text not null,
	header       jsonb not null,
	host_facts   jsonb not null,
	content_type text not null,
	charset      text not null,
	title        text not null,
	description  text not null,
	canonical    text not null,
	language     text not null,
	text         text not null,
	noindex      boolean not null,
	nofollow     boolean not null,
	flags        text[] not null,
	links        jsonb not null,
	sha256       bytea check (octet_length(sha256) = 32),
	change       text not null check (change in ('new', 'updated', 'gone', 'same')),
	old_sha256   bytea check (octet_length(old_sha256) = 32),
	stored_at    timestamptz not null default now(),
	primary key (crawl, url_id, visit)
);

-- +goose StatementBegin
do $$
begin
	alter table page alter column text set compression lz4;
	alter table page alter column links set compression lz4;
exception when feature_not_supported then
	null; -- a server built without lz4 compresses by pglz, more slowly
end
$$;
-- +goose StatementEnd

-- The pages as they are now: of each URL the latest visit that brought something. 304 brings nothing;
-- the page and its date stay those of the visit before.
create view pages as
select distinct on (crawl, url_id)
	crawl, url, code as status, title, content_type, fetched_at, size,
	encode(sha256, 'hex') as sha256,
	kind, language, description, host, location, depth, visit, change, links, text
from page
order by crawl, url_id, (code = 304), visit desc;

-- +goose Down
drop view pages;
drop table page;
drop table body;
