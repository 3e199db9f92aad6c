-- +goose Up

-- A crawl: a named specification. state: scheduled, running, paused, cancelled, expired, finished.
-- wake rises whenever hosts that slept through another state must be looked at again, woken is how far
-- the sweeper has come with that: numbers, since a flag could be cleared for somebody else's wake-up.
CREATE TABLE crawl (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL UNIQUE,
    spec        jsonb       NOT NULL,
    state       text        NOT NULL DEFAULT 'running',
    wake        bigint      NOT NULL DEFAULT 0,
    woken       bigint      NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    finished_at timestamptz
);

-- What a seed hands to its descendants. roots grow when a seed redirects; the row's version rises then.
CREATE TABLE scope (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    crawl   integer NOT NULL REFERENCES crawl,
    key     bytea   NOT NULL, -- hash of what the seed asked for
    version integer NOT NULL DEFAULT 1,
    rule    jsonb   NOT NULL,
    UNIQUE (crawl, key)
);

-- A host, shared by all crawls. Its row is the lock for its URLs' states: who changes the state of a
-- URL holds its host's row. Hence outstanding (URLs released) and has_ready are exact.
CREATE TABLE host (
    id          bigint      PRIMARY KEY, -- first 8 bytes of the url id
    name        text        NOT NULL,
    visited     boolean     NOT NULL DEFAULT false,
    has_ready   boolean     NOT NULL DEFAULT false,
    outstanding integer     NOT NULL DEFAULT 0,
    delay_ms    bigint      NOT NULL DEFAULT 0,
    pace_ms     bigint      NOT NULL DEFAULT 0,
    turn        integer     NOT NULL DEFAULT 0, -- the crawl served last: crawls take turns
    turn_at     timestamptz NOT NULL,           -- looked at again from then on; the longest waiting first
    next_at     timestamptz,                    -- no request before
    bad_since   timestamptz,                    -- held back without an answer since
    reason      text        NOT NULL DEFAULT ''
) WITH (fillfactor = 70);
CREATE INDEX host_turn ON host (turn_at) WHERE has_ready;
CREATE INDEX host_bad ON host (bad_since) WHERE bad_since IS NOT NULL;
CREATE INDEX host_held ON host (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX host_outstanding ON host (id) WHERE outstanding <> 0;

-- A URL of a crawl. state: 0 waiting(due_at), 1 ready, 2 released(lease_until, release), 3 done,
-- 4 failed(reason), 5 excluded(reason). held: pages of budgets are taken for it, 1 the crawl's, 2 the
-- host's.
CREATE TABLE url (
    crawl         integer  NOT NULL,
    host          bigint   NOT NULL,
    hash          bigint   NOT NULL, -- last 8 bytes of the url id
    url           text     NOT NULL,
    state         smallint NOT NULL,
    rank          integer  NOT NULL, -- release order, lower first: priority, then depth
    depth         integer  NOT NULL,
    hops          smallint NOT NULL DEFAULT 0,
    scope         bigint   NOT NULL,
    visit         integer  NOT NULL DEFAULT 1,
    release       bigint   NOT NULL DEFAULT 0,
    attempts      smallint NOT NULL DEFAULT 0,
    expiries      smallint NOT NULL DEFAULT 0,
    held          smallint NOT NULL DEFAULT 0,
    code          smallint NOT NULL DEFAULT 0,
    due_at        timestamptz,
    lease_until   timestamptz,
    tried_at      timestamptz, -- first release of this visit
    closed_at     timestamptz,
    reason        text NOT NULL DEFAULT '',
    etag          text NOT NULL DEFAULT '',
    last_modified text NOT NULL DEFAULT '',
    PRIMARY KEY (crawl, host, hash)
) WITH (fillfactor = 80);
CREATE INDEX url_ready ON url (host, crawl, rank) WHERE state = 1;
CREATE INDEX url_due ON url (due_at) WHERE state = 0;
CREATE INDEX url_lease ON url (lease_until) WHERE state = 2;
CREATE INDEX url_released ON url (host, crawl) WHERE state = 2;
CREATE INDEX url_tried ON url (tried_at) WHERE tried_at IS NOT NULL AND state < 3;

-- Page budgets, taken at release. slept rises when a host is put to sleep over a spent budget, roused is
-- how far the sweeper has come with waking such hosts since pages were given back.
CREATE TABLE budget (
    crawl integer NOT NULL,
    host  bigint  NOT NULL, -- 0 for the crawl's own
    taken  bigint NOT NULL,
    slept  bigint NOT NULL DEFAULT 0,
    roused bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (crawl, host)
) WITH (fillfactor = 70);

-- Counters as deltas: each replica adds to rows of its own (slot), a reader sums them in one snapshot.
CREATE TABLE tally (
    crawl integer NOT NULL,
    key   text    NOT NULL,
    slot  integer NOT NULL,
    n     bigint  NOT NULL,
    PRIMARY KEY (crawl, key, slot)
) WITH (fillfactor = 50);

-- What the whole frontier was made with.
CREATE TABLE setting (
    key   text PRIMARY KEY,
    value text NOT NULL
);

-- +goose Down
DROP TABLE setting, tally, budget, url, host, scope, crawl;
