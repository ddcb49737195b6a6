-- The tables of one crawl, in a schema of its own.
--
-- What grows with the crawl (url, outcome) is only inserted into, in the normal course; what
-- changes (queue, claim, host) is small, or changes without new entries in its indexes.  So
-- few dead rows are left behind, and those in small tables, which are vacuumed often.

CREATE TABLE crawl (
    version integer NOT NULL,
    partitions integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    gap_s float8 NOT NULL,               -- the least time between two fetches from a host
    pages_left bigint,                   -- pages that may still be begun; NULL for no limit
    bytes_left bigint,                   -- bytes that may still be received
    config text                          -- what all workers crawl, as JSON; NULL until it begins
) WITH (fillfactor = 50);

-- Where workers keep what they fetch: a directory of a machine, with its archive and its index.
CREATE SEQUENCE store_id;
CREATE TABLE store (
    id integer PRIMARY KEY,
    key uuid NOT NULL UNIQUE,            -- which is written there too
    machine text NOT NULL,
    location text NOT NULL,
    done bigint NOT NULL DEFAULT 0       -- URLs that its workers have fetched; at least so many
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

-- The processes that crawl.  One that has not been heard of is replaced by the next to join,
-- which gets its number.
CREATE SEQUENCE worker_id;
CREATE TABLE worker (
    id integer PRIMARY KEY,
    epoch bigint NOT NULL,               -- tells those apart that had this number
    step bigint NOT NULL DEFAULT 0,      -- the last one that was carried out
    alive_until float8 NOT NULL,
    store integer NOT NULL,
    name text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

CREATE SEQUENCE host_id;
CREATE TABLE host (
    id integer PRIMARY KEY,
    name text NOT NULL UNIQUE,
    free_at float8 NOT NULL DEFAULT 0,   -- seconds since the epoch
    gap_s float8 NOT NULL,
    known_until float8 NOT NULL DEFAULT 0,   -- when its robots.txt expires
    awaited bigint,                      -- the last lease, if the host has a gap
    is_down boolean NOT NULL DEFAULT false,
    turn integer,                        -- the least of its URLs in the queue that are due, or
                                         -- less; NULL if there are none
    is_ready boolean NOT NULL GENERATED ALWAYS AS (turn IS NOT NULL) STORED
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX host_ready ON host (free_at, id) WHERE is_ready;
CREATE INDEX host_turn ON host (turn, free_at, id) WHERE turn IS NOT NULL;

-- An id is a number that grows, and in its last ten bits the partition, which is that of the
-- host.  A URL that must not be fetched has a refusal; one that has ended, an outcome; one that
-- is under way, a claim; every other is in the queue.
CREATE SEQUENCE url_id CACHE 50;
CREATE TABLE url (
    id bigint NOT NULL,
    digest uuid NOT NULL,                -- of its `dedup_key`
    via bigint,                          -- what led to it
    host_id integer NOT NULL,
    depth integer NOT NULL,
    redirects_left integer NOT NULL,
    part smallint NOT NULL,
    role smallint NOT NULL,
    is_target boolean NOT NULL,          -- whether a redirect led to it
    refusal text,
    url text NOT NULL,
    PRIMARY KEY (id, part),
    UNIQUE (digest, part)
) PARTITION BY LIST (part);
CREATE INDEX url_query ON url (id) WHERE strpos(url, '?') > 0 OR strpos(url, ';') > 0;

CREATE TABLE outcome (
    id bigint NOT NULL,
    finished_at float8 NOT NULL,
    took_s float8,
    size_bytes bigint NOT NULL,
    status integer,
    tries integer NOT NULL,
    store integer NOT NULL,              -- of the worker that fetched it
    part smallint NOT NULL,
    is_html boolean NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    content_type text NOT NULL,
    title text NOT NULL,
    error text NOT NULL,
    redirect_to text NOT NULL,
    canonical text NOT NULL,
    digest text NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (id, part)
) PARTITION BY LIST (part);
CREATE INDEX outcome_failed ON outcome (id) WHERE state = 'failed';
CREATE INDEX outcome_slow ON outcome (took_s);
CREATE INDEX outcome_redirect ON outcome (id) WHERE reason = 'redirect';

-- URLs that may be claimed, and retries that are not due yet.
CREATE TABLE queue (
    id bigint NOT NULL,
    due_at float8,                       -- of such a retry
    host_id integer NOT NULL,
    turn integer NOT NULL,               -- smaller ones are claimed first
    depth integer NOT NULL,
    tries integer NOT NULL,
    role smallint NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX queue_ready ON queue (host_id, turn, id) WHERE due_at IS NULL;
CREATE INDEX queue_waiting ON queue (due_at) WHERE due_at IS NOT NULL;

CREATE SEQUENCE claim_token;
CREATE TABLE claim (
    token bigint PRIMARY KEY,
    id bigint NOT NULL,
    lease_ends_at float8 NOT NULL,
    worker integer NOT NULL,
    host_id integer NOT NULL,
    turn integer NOT NULL,
    depth integer NOT NULL,
    tries integer NOT NULL,
    role smallint NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX claim_worker ON claim (worker);
CREATE INDEX claim_host ON claim (host_id);
CREATE INDEX claim_end ON claim (lease_ends_at);

-- How many URLs of a path have a query, for the limit on them; by the digest of the path.
CREATE TABLE path (
    digest uuid PRIMARY KEY,
    queries integer NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);

-- What all workers are told of an origin, with its next claim.
CREATE TABLE origin (
    name text PRIMARY KEY,
    version integer NOT NULL DEFAULT 1,  -- grows with each change
    known_url text,                      -- one that got a response
    pauses integer,                      -- that were made since the last response
    robots jsonb,                        -- what was found in robots.txt, until when
    cookies jsonb                        -- by name and path
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);

-- How many URLs there are of each kind, as each worker has counted: a row for all would make
-- them wait for one another.  Those that have not ended have the state `queued`.
CREATE TABLE amount (
    worker integer NOT NULL,
    depth integer NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    status integer NOT NULL,             -- 0 without a response
    is_html boolean NOT NULL,
    role smallint NOT NULL,
    urls bigint NOT NULL,
    size_bytes bigint NOT NULL,
    first_at float8,
    last_at float8,
    PRIMARY KEY (worker, depth, state, reason, status, is_html, role)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
