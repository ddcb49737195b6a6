-- What workers call.  `frontier_step` takes everything that has happened since the last call,
-- and leases the next URLs, in one round trip and one transaction.
--
-- Rule: locks are taken in this order, and each kind in the order given, so that workers never
-- wait for one another in a circle: the worker's own row; its claims; new hosts, by name; paths
-- and new URLs, by digest; origins, by name; hosts, by id; the limits.  A worker that has locked
-- a host does not wait for another to lease from, and what has expired or is empty is skipped if
-- it is locked.  (PostgreSQL may wait for a row even so, if it was changed a moment ago: if that
-- ends in a circle, the server ends one of the steps after a second, and it is sent again.)
--
-- Times are in seconds since the epoch, by the clock of the server.
--
-- Functions with queries are in PL/pgSQL, which keeps their plans; SQL plans anew each time.

-- Whether another link may end the refusal of a URL.
CREATE FUNCTION is_provisional(refusal text) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
    SELECT refusal IS NOT NULL AND refusal IN (@PROVISIONAL@)
$$;

-- As `crawler_app.store.frontier.turn_of`.
CREATE FUNCTION turn_of(role smallint, depth integer) RETURNS integer IMMUTABLE LANGUAGE sql AS $$
    SELECT CASE WHEN role >= 2 THEN -1 ELSE depth END
$$;

CREATE FUNCTION part_of(url_id bigint) RETURNS smallint IMMUTABLE LANGUAGE sql AS $$
    SELECT (url_id & 1023)::smallint
$$;

CREATE FUNCTION server_time() RETURNS float8 VOLATILE LANGUAGE sql AS $$
    SELECT extract(epoch FROM clock_timestamp())::float8
$$;

-- A change of the counts: of URLs that have not ended, or of those of a kind that have.
CREATE FUNCTION unended(depth integer, role smallint, urls bigint)
RETURNS amount IMMUTABLE LANGUAGE sql AS $$
    SELECT ROW(0, depth, 'queued', '', 0, false, role, urls, 0, NULL, NULL)::amount
$$;

CREATE FUNCTION refused(depth integer, role smallint, refusal text, urls bigint)
RETURNS amount IMMUTABLE LANGUAGE sql AS $$
    SELECT ROW(0, depth, 'excluded', refusal, 0, false, role, urls, 0, NULL, NULL)::amount
$$;

CREATE FUNCTION count_urls(p_worker integer, changes amount[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF changes IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO amount
    SELECT p_worker, depth, state, reason, status, is_html, role,
        sum(urls), sum(size_bytes), min(first_at), max(last_at)
    FROM unnest(changes)
    GROUP BY depth, state, reason, status, is_html, role
    ON CONFLICT (worker, depth, state, reason, status, is_html, role) DO UPDATE SET
        urls = amount.urls + excluded.urls,
        size_bytes = amount.size_bytes + excluded.size_bytes,
        first_at = least(amount.first_at, excluded.first_at),
        last_at = greatest(amount.last_at, excluded.last_at);
END $$;

-- Record the outcomes of claims that the worker still has; return the tokens of these.
CREATE FUNCTION end_claims(
    p_worker integer, p_store integer, ends jsonb, shift float8,
    OUT tokens bigint[], OUT changes amount[], OUT pages bigint, OUT bytes bigint,
    OUT done bigint
) LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_array_length(ends) = 0 THEN
        RETURN;
    END IF;
    WITH ended AS MATERIALIZED (
        SELECT (e->>0)::bigint AS token, e FROM jsonb_array_elements(ends) AS e
    ), gone AS (
        DELETE FROM claim USING ended
        WHERE claim.token = ended.token AND claim.worker = p_worker
        RETURNING claim.token, claim.id, claim.depth, claim.role, claim.tries,
            e->>1 AS state, e->>2 AS reason, (e->>3)::integer AS status,
            (e->>4)::bigint AS size_bytes, (e->>5)::float8 AS took_s,
            (e->>6)::float8 + shift AS finished_at, (e->>7)::boolean AS is_html, e
    ), recorded AS (
        INSERT INTO outcome (id, part, finished_at, took_s, size_bytes, status, tries, store,
            is_html, state, reason, content_type, title, error, redirect_to, canonical, digest,
            note)
        SELECT id, part_of(id), finished_at, took_s, size_bytes, status, tries, p_store,
            is_html, state, reason, e->>8, e->>9, e->>10, e->>11, e->>12, e->>13, e->>14
        FROM gone
    )
    SELECT array_agg(token),
        array_agg(unended(depth, role, -1)) || array_agg(ROW(0, depth, state, reason,
            coalesce(status, 0), is_html, role, 1, size_bytes, finished_at, finished_at)::amount),
        count(*) FILTER (WHERE state = 'excluded' AND role < 2),
        sum(size_bytes), count(*) FILTER (WHERE state = 'done')
    INTO tokens, changes, pages, bytes, done FROM gone;
END $$;

-- Put claims back: each is a token, when the retry is due, and the new spelling, if any.
CREATE FUNCTION put_back(
    p_worker integer, backs jsonb, shift float8,
    OUT ready integer[], OUT pages bigint
) LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_array_length(backs) = 0 THEN
        RETURN;
    END IF;
    WITH back AS MATERIALIZED (
        SELECT (b->>0)::bigint AS token, (b->>1)::float8 + shift AS due_at, b->>2 AS spelling
        FROM jsonb_array_elements(backs) AS b
    ), gone AS (
        DELETE FROM claim USING back
        WHERE claim.token = back.token AND claim.worker = p_worker
        RETURNING claim.*, back.due_at, back.spelling
    ), respelled AS (
        UPDATE url SET url = gone.spelling, redirects_left = url.redirects_left - 1
        FROM gone
        WHERE gone.spelling IS NOT NULL AND url.id = gone.id AND url.part = part_of(gone.id)
    ), queued AS (
        INSERT INTO queue
        SELECT id, due_at, host_id, turn, depth, tries + (due_at IS NOT NULL)::integer, role
        FROM gone
    )
    SELECT array_agg(DISTINCT host_id) FILTER (WHERE due_at IS NULL),
        count(*) FILTER (WHERE role < 2)
    INTO ready, pages FROM gone;
END $$;

-- Queue URLs that have ended as if never tried.
CREATE FUNCTION requeue(
    ids bigint[], OUT urls bigint, OUT ready integer[], OUT changes amount[], OUT pages bigint
) LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(ids) = 0 THEN
        urls := 0;
        pages := 0;
        RETURN;
    END IF;
    WITH gone AS (
        DELETE FROM outcome USING unnest(ids) AS wanted (id)
        WHERE outcome.id = wanted.id AND part = part_of(wanted.id)
            AND state IN ('done', 'failed')
        RETURNING outcome.*
    ), again AS MATERIALIZED (
        SELECT gone.*, url.host_id, url.depth, url.role
        FROM gone JOIN url ON url.id = gone.id AND url.part = gone.part
    ), queued AS (
        INSERT INTO queue
        SELECT id, NULL, host_id, turn_of(role, depth), depth, 0, role FROM again
    )
    SELECT count(*), array_agg(DISTINCT host_id),
        array_agg(unended(depth, role, 1)) || array_agg(ROW(0, depth, state, reason,
            coalesce(status, 0), is_html, role, -1, -size_bytes, NULL, NULL)::amount),
        count(*) FILTER (WHERE role < 2)
    INTO urls, ready, changes, pages FROM again;
END $$;

-- Return the ids of hosts, in the order of their names; new ones are stored.
CREATE FUNCTION host_ids(names jsonb, asks_robots boolean) RETURNS integer[] LANGUAGE plpgsql AS $$
BEGIN
    IF jsonb_array_length(names) = 0 THEN
        RETURN '{}';
    END IF;
    INSERT INTO host (id, name, gap_s, known_until)
    SELECT id, name, (SELECT gap_s FROM crawl),
        CASE WHEN asks_robots THEN 0 ELSE 'infinity'::float8 END
    FROM (
        SELECT nextval('host_id') AS id, name FROM (
            SELECT name FROM jsonb_array_elements_text(names) WITH ORDINALITY AS n (name, place)
            WHERE NOT EXISTS (SELECT FROM host WHERE host.name = n.name)
            ORDER BY place
        ) AS in_order OFFSET 0
    ) AS numbered
    ORDER BY name
    ON CONFLICT (name) DO NOTHING;
    RETURN ARRAY(
        SELECT host.id FROM jsonb_array_elements_text(names) WITH ORDINALITY AS n (name, place)
        JOIN host USING (name) ORDER BY place
    );
END $$;

-- Return the digests of new URLs whose path has too many with a query, and count the others.
--
-- Each has the token of the claim that led to it, the digests of its path and of the URL, and
-- the place of its host.  Several workers may count a URL that they find at once.
CREATE FUNCTION refuse_queries(
    queries jsonb, hosts integer[], tokens bigint[], partitions integer, most integer
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    refused uuid[];
BEGIN
    IF most IS NULL OR jsonb_array_length(queries) = 0 THEN
        RETURN NULL;
    END IF;
    WITH listed AS MATERIALIZED (
        SELECT (q.value->>1)::uuid AS path, (q.value->>2)::uuid AS digest, min(place) AS place,
            (hosts[min(q.value->>3)::integer + 1] % partitions)::smallint AS part
        FROM jsonb_array_elements(queries) WITH ORDINALITY AS q (value, place)
        WHERE q.value->>0 IS NULL OR (q.value->>0)::bigint = ANY (tokens)
        GROUP BY 1, 2
    ), ranked AS MATERIALIZED (
        SELECT listed.path, listed.digest,
            rank() OVER (PARTITION BY listed.path ORDER BY place)
            + coalesce(path.queries, 0) <= most AS is_admitted
        FROM listed LEFT JOIN path ON path.digest = listed.path
        WHERE NOT EXISTS (
            SELECT FROM url WHERE url.digest = listed.digest AND url.part = listed.part
        )
    ), counted AS (
        INSERT INTO path SELECT path, count(*) FROM ranked WHERE is_admitted GROUP BY path
        ORDER BY path
        ON CONFLICT (digest) DO UPDATE SET queries = path.queries + excluded.queries
    )
    SELECT array_agg(digest) FILTER (WHERE NOT is_admitted) INTO refused FROM ranked;
    RETURN refused;
END $$;

-- Add the URLs that are not known yet.  The links of a claim that was lost are left out: the
-- worker that has it now finds them too.
CREATE FUNCTION add_links(
    sources jsonb, hosts integer[], tokens bigint[], partitions integer, refused uuid[],
    OUT queued bigint, OUT ready integer[], OUT changes amount[]
) LANGUAGE plpgsql AS $$
DECLARE
    missed bigint;  -- that other workers have added in the meantime
    found_urls bigint;
    found_ready integer[];
    found_changes amount[];
BEGIN
    queued := 0;
    IF jsonb_array_length(sources) = 0 THEN
        RETURN;
    END IF;
    LOOP
        WITH listed AS MATERIALIZED (
            SELECT (s.value->>0)::bigint AS via, (s.place << 32) + l.place AS place,
                (l.value->>0)::uuid AS digest, l.value->>1 AS url,
                hosts[(l.value->>2)::integer + 1] AS host_id, (l.value->>3)::integer AS depth,
                (l.value->>4)::integer AS redirects_left,
                CASE WHEN (l.value->>0)::uuid = ANY (refused) THEN 'too_many_queries'
                    ELSE l.value->>5 END AS refusal,
                (l.value->>6)::smallint AS role, (l.value->>7)::boolean AS is_target
            FROM jsonb_array_elements(sources) WITH ORDINALITY AS s (value, place),
                jsonb_array_elements(s.value->2) WITH ORDINALITY AS l (value, place)
            WHERE s.value->>1 IS NULL OR (s.value->>1)::bigint = ANY (tokens)
        ), found AS MATERIALIZED (
            SELECT DISTINCT ON (digest) *, min(place) OVER (PARTITION BY digest) AS first_place,
                (host_id % partitions)::smallint AS part
            FROM listed
            ORDER BY digest, is_provisional(refusal), place
        ), news AS MATERIALIZED (
            SELECT found.*, known.id AS old_id, known.depth AS old_depth,
                known.role AS old_role, known.refusal AS old_refusal
            FROM found LEFT JOIN url AS known
                ON known.digest = found.digest AND known.part = found.part
            WHERE known.id IS NULL
                OR is_provisional(known.refusal) AND NOT is_provisional(found.refusal)
        ), allowed AS (
            UPDATE url SET url = news.url, depth = news.depth, role = news.role, via = news.via,
                redirects_left = news.redirects_left, refusal = news.refusal,
                is_target = news.is_target
            FROM news
            WHERE url.id = news.old_id AND url.part = news.part AND is_provisional(url.refusal)
            RETURNING url.id, url.host_id, url.depth, url.role, url.refusal,
                news.old_depth, news.old_role, news.old_refusal
        ), numbered AS MATERIALIZED (
            SELECT (nextval('url_id') << 10) | part AS id, in_order.*
            FROM (SELECT * FROM news WHERE old_id IS NULL ORDER BY first_place) AS in_order
        ), added AS (
            INSERT INTO url (id, digest, via, host_id, depth, redirects_left, part, role,
                is_target, refusal, url)
            SELECT id, digest, via, host_id, depth, redirects_left, part, role, is_target,
                refusal, url
            FROM numbered ORDER BY digest
            ON CONFLICT (digest, part) DO NOTHING
            RETURNING id, host_id, depth, role, refusal
        ), met AS MATERIALIZED (
            SELECT *, NULL::integer AS old_depth, NULL::smallint AS old_role,
                NULL AS old_refusal FROM added
            UNION ALL SELECT * FROM allowed
        ), enqueued AS (
            INSERT INTO queue
            SELECT id, NULL, host_id, turn_of(role, depth), depth, 0, role
            FROM met WHERE refusal IS NULL
        )
        SELECT (SELECT count(*) FROM news) - count(*), count(*) FILTER (WHERE refusal IS NULL),
            array_agg(DISTINCT host_id) FILTER (WHERE refusal IS NULL),
            array_agg(CASE WHEN refusal IS NULL THEN unended(depth, role, 1)
                ELSE refused(depth, role, refusal, 1) END)
            || array_agg(refused(old_depth, old_role, old_refusal, -1))
                FILTER (WHERE old_refusal IS NOT NULL)
        INTO missed, found_urls, found_ready, found_changes FROM met;
        queued := queued + found_urls;
        ready := ready || found_ready;
        changes := changes || found_changes;
        EXIT WHEN missed = 0;
    END LOOP;
END $$;

-- Return the newest cookies of an origin, as many as a worker keeps.
CREATE FUNCTION newest(cookies jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(key, value) FROM (
            SELECT * FROM jsonb_each(cookies) ORDER BY (value->>0)::float8 DESC, key LIMIT 50
        ) AS kept
    );
END $$;

-- Note what a worker tells of origins; return the version of each that has changed.
CREATE FUNCTION note_origins(origins jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    versions jsonb;
BEGIN
    IF jsonb_array_length(origins) = 0 THEN
        RETURN NULL;
    END IF;
    WITH changed AS (
        INSERT INTO origin AS o (name, known_url, pauses, robots, cookies)
        SELECT n->>0, n->1->>'known_url', (n->1->>'pauses')::integer, n->1->'robots',
            newest(n->1->'cookies')
        FROM jsonb_array_elements(origins) AS n ORDER BY n->>0
        ON CONFLICT (name) DO UPDATE SET version = o.version + 1,
            known_url = coalesce(excluded.known_url, o.known_url),
            pauses = coalesce(excluded.pauses, o.pauses),
            robots = CASE WHEN excluded.robots IS NULL THEN o.robots
                ELSE coalesce(o.robots, '{}') || excluded.robots END,
            cookies = CASE WHEN excluded.cookies IS NULL THEN o.cookies
                ELSE newest(coalesce(o.cookies, '{}') || excluded.cookies) END
        WHERE excluded.known_url <> coalesce(o.known_url, '')
            OR excluded.pauses <> coalesce(o.pauses, 0)
            OR excluded.robots IS NOT NULL OR excluded.cookies IS NOT NULL
        RETURNING name, version
    )
    SELECT jsonb_agg(jsonb_build_array(name, version)) INTO versions FROM changed;
    RETURN versions;
END $$;

-- Tell a worker what is known of origins.
CREATE FUNCTION origins_of(names jsonb) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_array(name, version, known_url, pauses, robots, cookies))
        FROM origin WHERE name IN (SELECT jsonb_array_elements_text(names))
    );
END $$;

-- Put claims back whose lease has expired or whose worker has gone, and retries that are due, but
-- no more than a step has time for; return the hosts of both, and of the claims.
CREATE FUNCTION take_back(
    p_worker integer, now_s float8, OUT ready integer[], OUT lost integer[], OUT pages bigint
) LANGUAGE plpgsql AS $$
DECLARE
    gone integer[] := ARRAY(
        SELECT id FROM worker WHERE alive_until <= now_s AND id <> p_worker
    );
    due integer[];
BEGIN
    pages := 0;
    IF EXISTS (SELECT FROM claim WHERE lease_ends_at <= now_s)
        OR EXISTS (SELECT FROM claim WHERE worker = ANY (gone))
    THEN
        WITH taken AS (
            DELETE FROM claim WHERE token = ANY (ARRAY(
                SELECT token FROM claim WHERE lease_ends_at <= now_s OR worker = ANY (gone)
                FOR UPDATE SKIP LOCKED
            )) RETURNING *
        ), queued AS (
            INSERT INTO queue SELECT id, NULL, host_id, turn, depth, tries, role FROM taken
        )
        SELECT array_agg(DISTINCT host_id), count(*) FILTER (WHERE role < 2)
        INTO lost, pages FROM taken;
        ready := lost;
    END IF;
    IF EXISTS (SELECT FROM queue WHERE due_at <= now_s) THEN
        WITH rung AS (
            UPDATE queue SET due_at = NULL WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM queue WHERE due_at <= now_s
                ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
            )) RETURNING host_id
        )
        SELECT array_agg(DISTINCT host_id) INTO due FROM rung;
        ready := ready || due;
    END IF;
END $$;

-- Return the redirects that led to a URL, the last first: id, URL and target of each.
CREATE FUNCTION redirects_to(url_id bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        WITH RECURSIVE before (id, url, redirect_to, via, place) AS (
            SELECT NULL::bigint, NULL, NULL, via, 0 FROM url
            WHERE id = url_id AND part = part_of(url_id)
            UNION ALL
            SELECT url.id, url.url, outcome.redirect_to, url.via, before.place + 1
            FROM before
            JOIN url ON url.id = before.via AND url.part = part_of(before.via)
            JOIN outcome ON outcome.id = before.via AND outcome.part = part_of(before.via)
            WHERE outcome.state = 'done' AND outcome.redirect_to <> '' AND place < 100
        )
        SELECT jsonb_agg(jsonb_build_array(id, url, redirect_to) ORDER BY place)
        FROM before WHERE place > 0
    );
END $$;

-- Describe claims to their worker.
CREATE FUNCTION claims_of(tokens bigint[]) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_array(
            token, claim.id, url.url, host.name, claim.depth, redirects_left, tries, claim.role,
            lease_ends_at,
            CASE WHEN is_target THEN redirects_to(claim.id) END,
            gap_s,
            (SELECT version FROM origin
                WHERE origin.name = substring(url.url FROM '^[^/]*//[^/]*'))
        ) ORDER BY token)
        FROM claim
        JOIN url ON url.id = claim.id AND url.part = part_of(claim.id)
        JOIN host ON host.id = claim.host_id
        WHERE token = ANY (tokens)
    );
END $$;

-- Lock the hosts that have their turn, in its order.
CREATE FUNCTION hosts_in_turn(
    wanted integer, max_turn integer, per_host integer, now_s float8, may_wait boolean
) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
    found integer[] := '{}';
    level integer;
    of_level integer[];
    late integer[];
    awaited_id integer;
BEGIN
    IF max_turn IS NULL THEN
        found := ARRAY(
            SELECT id FROM host
            WHERE is_ready AND free_at <= now_s AND has_room(host, per_host, now_s)
            ORDER BY free_at, id LIMIT wanted FOR NO KEY UPDATE SKIP LOCKED
        );
    END IF;
    -- One turn after the other: most hosts may have URLs of later turns only.
    FOR level IN SELECT levels_to(max_turn) LOOP
        of_level := ARRAY(
            SELECT id FROM host
            WHERE turn = level AND free_at <= now_s AND has_room(host, per_host, now_s)
                AND first_turn(id) <= max_turn
            ORDER BY free_at, id LIMIT wanted FOR NO KEY UPDATE SKIP LOCKED
        );
        found := found || of_level;
        IF cardinality(of_level) < wanted THEN
            -- Others have come to a turn after these, which was not noted.
            late := ARRAY(
                SELECT id FROM host
                WHERE turn = level AND free_at <= now_s
                    AND (first_turn(id) <= max_turn) IS NOT TRUE
                ORDER BY free_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED
            );
            UPDATE host SET turn = first_turn(id) WHERE id = ANY (late);
        END IF;
    END LOOP;
    IF max_turn IS NOT NULL THEN
        found := ARRAY(
            SELECT id FROM host WHERE id = ANY (found) ORDER BY free_at, id LIMIT wanted
        );
    END IF;
    IF found = '{}' AND may_wait THEN
        awaited_id := first_host(max_turn, per_host, now_s);
        found := ARRAY(SELECT id FROM host WHERE id = awaited_id FOR NO KEY UPDATE);
    END IF;
    RETURN found;
END $$;

-- Return a host that has its turn, even if it is locked.
CREATE FUNCTION first_host(max_turn integer, per_host integer, now_s float8)
RETURNS integer STABLE LANGUAGE plpgsql AS $$
DECLARE
    level integer;
    found integer;
BEGIN
    IF max_turn IS NULL THEN
        RETURN (
            SELECT id FROM host
            WHERE is_ready AND free_at <= now_s AND has_room(host, per_host, now_s)
            ORDER BY free_at, id LIMIT 1
        );
    END IF;
    FOR level IN SELECT levels_to(max_turn) LOOP
        found := (
            SELECT id FROM host
            WHERE turn = level AND free_at <= now_s AND has_room(host, per_host, now_s)
                AND first_turn(id) <= max_turn
            ORDER BY free_at, id LIMIT 1
        );
        EXIT WHEN found IS NOT NULL;
    END LOOP;
    RETURN found;
END $$;

-- Return the turns that hosts have, in order; none if there is no limit.
CREATE FUNCTION levels_to(max_turn integer) RETURNS SETOF integer STABLE LANGUAGE plpgsql AS $$
DECLARE
    level integer := -2;
BEGIN
    LOOP
        level := (SELECT min(turn) FROM host WHERE turn > level AND turn <= max_turn);
        EXIT WHEN level IS NULL;
        RETURN NEXT level;
    END LOOP;
END $$;

-- Whether any number of URLs of a host may be leased: the most frequent case, which is cheap.
CREATE FUNCTION is_unlimited(h host, per_host integer, now_s float8)
RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT per_host IS NULL AND h.gap_s = 0 AND h.known_until > now_s AND NOT h.is_down
$$;

-- Return how many more URLs of a host may be leased.
--
-- While its robots.txt is not known, and while it is down, one URL is under way, so that one
-- worker finds out for all.  If it has a gap, the next is leased when the fetch of the last has
-- begun: only the worker knows when that is.
CREATE FUNCTION room_of(h host, per_host integer, now_s float8)
RETURNS integer STABLE LANGUAGE plpgsql AS $$
DECLARE
    most integer := CASE WHEN h.is_down OR h.known_until <= now_s THEN 1 ELSE per_host END;
BEGIN
    IF h.gap_s > 0 AND EXISTS (SELECT FROM claim WHERE token = h.awaited) THEN
        RETURN 0;
    END IF;
    IF most IS NOT NULL THEN
        most := greatest(0, most - (SELECT count(*) FROM claim WHERE host_id = h.id));
    END IF;
    RETURN least(most, CASE WHEN h.gap_s > 0 THEN 1 END);
END $$;

CREATE FUNCTION has_room(h host, per_host integer, now_s float8)
RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT is_unlimited(h, per_host, now_s) OR room_of(h, per_host, now_s) > 0
$$;

-- Return the least turn of the URLs of a host that are due; NULL if there are none.
CREATE FUNCTION first_turn(p_host integer) RETURNS integer STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT turn FROM queue WHERE host_id = p_host AND due_at IS NULL ORDER BY turn LIMIT 1
    );
END $$;

-- Lease the next URLs, one after the other from each host; return their tokens.
CREATE FUNCTION lease(
    p_worker integer, hosts integer[], wanted integer, max_turn integer, per_host integer,
    now_s float8, ends_at float8, OUT tokens bigint[], OUT pages bigint
) LANGUAGE plpgsql AS $$
DECLARE
    quota integer := ceil(wanted::float8 / cardinality(hosts));
    used integer[];
BEGIN
    WITH in_turn AS MATERIALIZED (
        -- Counted again: what another worker has claimed before the host was locked.
        SELECT h.place, id, CASE WHEN is_unlimited(host, per_host, now_s) THEN quota
            ELSE least(quota, room_of(host, per_host, now_s)) END AS room
        FROM unnest(hosts) WITH ORDINALITY AS h (id, place) JOIN host USING (id)
        WHERE is_ready AND free_at <= now_s
    ), next AS MATERIALIZED (
        SELECT q.*, in_turn.place,
            row_number() OVER (PARTITION BY in_turn.place ORDER BY q.turn, q.id) AS rank
        FROM in_turn CROSS JOIN LATERAL (
            SELECT ctid AS row_id, queue.* FROM queue
            WHERE host_id = in_turn.id AND due_at IS NULL AND (max_turn IS NULL OR turn <= max_turn)
            ORDER BY turn, id LIMIT in_turn.room
        ) AS q
        ORDER BY rank, place LIMIT wanted
    ), taken AS (
        DELETE FROM queue WHERE ctid = ANY (ARRAY(SELECT row_id FROM next))
    ), leased AS (
        INSERT INTO claim
        SELECT nextval('claim_token'), id, ends_at, p_worker, host_id, turn, depth, tries, role
        FROM (SELECT * FROM next ORDER BY rank, place) AS in_order
        RETURNING token, host_id, role
    )
    SELECT array_agg(token), array_agg(DISTINCT host_id), count(*) FILTER (WHERE role < 2)
    INTO tokens, used, pages FROM leased;
    -- Hosts that are empty or, if that matters, have come to a later turn, but for those to which
    -- another worker is just adding.  They are looked at again when they are locked: that worker
    -- may have been faster.
    hosts := ARRAY(
        SELECT id FROM host WHERE id = ANY (hosts) AND turn IS DISTINCT FROM first_turn(id)
            AND (max_turn IS NOT NULL OR first_turn(id) IS NULL)
        FOR UPDATE SKIP LOCKED
    );
    IF hosts <> '{}' THEN
        UPDATE host SET turn = first_turn(id) WHERE id = ANY (hosts);
    END IF;
    IF EXISTS (SELECT FROM host WHERE id = ANY (used) AND gap_s > 0) THEN
        UPDATE host SET awaited = token FROM claim
        WHERE token = ANY (tokens) AND host.id = host_id AND gap_s > 0;
    END IF;
END $$;

-- Return the first time after now at which a further URL is due, if no lease ends before.
CREATE FUNCTION next_time(now_s float8, per_host integer)
RETURNS float8 STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT least(
            (SELECT free_at FROM host
                WHERE is_ready AND free_at > now_s AND has_room(host, per_host, now_s)
                ORDER BY free_at LIMIT 1),
            (SELECT min(due_at) FROM queue WHERE due_at > now_s)
        )
    );
END $$;

-- Return how many URLs there are: by state, pages or not, and for those not ended by depth;
-- of the latter, how many are claimed, and, if the crawl goes by depth, how many are retries due
-- later than a time.
CREATE FUNCTION url_counts(late_at float8, is_by_depth boolean)
RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT jsonb_build_object(
            'urls', (SELECT jsonb_agg(jsonb_build_array(state, is_non_page, depth, urls)) FROM (
                SELECT state, role >= 2 AS is_non_page,
                    CASE WHEN state = 'queued' THEN depth END AS depth, sum(urls) AS urls
                FROM amount GROUP BY 1, 2, 3
            ) AS counted),
            'claimed', (SELECT jsonb_agg(jsonb_build_array(is_non_page, urls)) FROM (
                SELECT role >= 2 AS is_non_page, count(*) AS urls FROM claim GROUP BY 1
            ) AS counted),
            'late', (SELECT jsonb_agg(jsonb_build_array(depth, urls)) FROM (
                SELECT depth, count(*) AS urls FROM queue
                WHERE is_by_depth AND due_at > late_at GROUP BY 1
            ) AS counted)
        )
    );
END $$;

-- Note which hosts have URLs that are due, from which claims were taken back, and what a worker
-- tells of hosts; return whether any was locked.
--
-- A host whose turn stays is locked against being found empty only, so that workers that find
-- URLs of one host do not wait for one another, nor for one that leases from it.
--
-- A note has the place of the host and, or NULL: until when it is held; its gap; whether it is
-- down; until when its robots.txt is known; the end of a hold that is to be shortened, and its
-- new end.
CREATE FUNCTION update_hosts(
    p_worker integer, ready integer[], lost integer[], notes jsonb, hosts integer[],
    now_s float8, shift float8
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    locked integer[] := lost || ARRAY(
        SELECT hosts[(n->>0)::integer + 1] FROM jsonb_array_elements(notes) AS n
    );
BEGIN
    IF cardinality(ready) > 0 THEN
        PERFORM FROM host WHERE id = ANY (ready) ORDER BY id FOR KEY SHARE;
        ready := ARRAY(
            SELECT id FROM host WHERE id = ANY (ready) AND (turn IS NULL OR turn > first_turn(id))
        );
        locked := locked || ready;
    END IF;
    PERFORM FROM host WHERE id = ANY (locked) ORDER BY id FOR NO KEY UPDATE;
    IF cardinality(ready) > 0 THEN
        UPDATE host SET turn = least(turn, first_turn(id)) WHERE id = ANY (ready);
    END IF;
    IF cardinality(lost) > 0 THEN
        -- Its fetch may have begun just before the end.
        UPDATE host SET free_at = greatest(free_at, now_s + gap_s)
        WHERE id = ANY (lost) AND gap_s > 0;
    END IF;
    IF jsonb_array_length(notes) > 0 THEN
        UPDATE host SET gap_s = coalesce(note.gap_s, host.gap_s),
            is_down = coalesce(note.is_down, host.is_down),
            known_until = greatest(note.known_until, host.known_until),
            free_at = greatest(note.free_at,
                -- The clocks are compared anew with each step, so the times are not the same.
                CASE WHEN host.free_at <= held_to + 1 THEN least(host.free_at, shortened_to)
                    ELSE host.free_at END),
            -- A fetch has begun.
            awaited = CASE WHEN note.free_at IS NULL OR EXISTS (
                SELECT FROM claim WHERE token = host.awaited AND worker <> p_worker
            ) THEN host.awaited END
        FROM (
            SELECT hosts[(n->>0)::integer + 1] AS id, (n->>1)::float8 + shift AS free_at,
                (n->>2)::float8 AS gap_s, (n->>3)::boolean AS is_down,
                (n->>4)::float8 + shift AS known_until,
                (n->>5)::float8 + shift AS held_to, (n->>6)::float8 + shift AS shortened_to
            FROM jsonb_array_elements(notes) AS n
        ) AS note
        WHERE host.id = note.id;
    END IF;
    RETURN locked <> '{}';
END $$;

-- Let holds and retries end as much earlier as the clock was set back, and workers be heard of.
CREATE FUNCTION note_time(seen_at float8, held_to float8, alive_s float8, now_s float8)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    step_s float8 := greatest(
        seen_at, CASE WHEN held_to > now_s + @LONGEST_HOLD_S@ THEN held_to END
    ) - now_s;
BEGIN
    -- One worker is enough, and the others must not wait for it with their own rows locked.
    IF coalesce(step_s, 0) <= @MAX_SETBACK_S@
        OR NOT pg_try_advisory_xact_lock(hashtext(current_schema), 1)
    THEN
        RETURN;
    END IF;
    UPDATE worker SET alive_until = alive_until - step_s WHERE alive_until > now_s + alive_s;
    PERFORM FROM host WHERE free_at > now_s ORDER BY id FOR NO KEY UPDATE;
    UPDATE host SET free_at = free_at - step_s WHERE free_at > now_s;
    UPDATE queue SET due_at = due_at - step_s WHERE due_at > now_s;
END $$;

CREATE FUNCTION frontier_step(
    p_worker integer, p_epoch bigint, p_step bigint, p jsonb, p_now float8
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    now_s float8 := coalesce(p_now, server_time());
    shift float8 := now_s - (p->>'at')::float8;  -- from the worker's clock to this one
    settings crawl;
    last_step bigint;
    heard_at float8;
    own_store integer;
    hosts integer[];
    ended record;
    back record;
    again record;
    met record;
    overdue record;
    lost integer[];
    leased_tokens bigint[];
    leased_pages bigint;
    is_limited boolean;
    ready integer[];
    reply jsonb := jsonb_build_object('at', now_s, 'queued', 0);
    wanted integer := (p->>'wanted')::integer;
    max_turn integer := (p->>'max_depth')::integer;
    per_host integer := (p->>'per_host')::integer;
    pages bigint := 0;
    has_hosts boolean;
    held bigint;
    versions jsonb;
BEGIN
    SELECT step, store, alive_until - (p->>'alive_s')::float8
    INTO last_step, own_store, heard_at FROM worker
    WHERE id = p_worker AND epoch = p_epoch FOR NO KEY UPDATE;
    -- A server that took over from another may lack its last steps.  And a message may come late,
    -- on a connection that was given up.
    IF NOT FOUND OR p_step NOT BETWEEN last_step AND last_step + 1 THEN
        RETURN reply || '{"is_replaced": true}';
    END IF;
    PERFORM note_time(heard_at, NULL, (p->>'alive_s')::float8, now_s);
    UPDATE worker SET step = p_step, alive_until = now_s + (p->>'alive_s')::float8
    WHERE id = p_worker;
    IF p_step = last_step THEN
        -- Carried out, but the answer was lost.
        RETURN reply || jsonb_build_object('is_repeated', true, 'claims',
            claims_of(ARRAY(SELECT token FROM claim WHERE worker = p_worker)));
    END IF;
    SELECT * INTO settings FROM crawl;

    SELECT * INTO ended FROM end_claims(p_worker, own_store, p->'ends', shift);
    IF ended.done > 0 THEN
        UPDATE store SET done = done + ended.done WHERE id = own_store;
    END IF;
    SELECT * INTO back FROM put_back(p_worker, p->'backs', shift);
    SELECT * INTO again FROM requeue(ARRAY(
        SELECT (a->>1)::bigint FROM jsonb_array_elements(p->'again') AS a
        WHERE (a->>0)::bigint = ANY (ended.tokens)
    ));
    IF again.urls > 0 THEN
        UPDATE url SET redirects_left = (a->>2)::integer
        FROM jsonb_array_elements(p->'again') AS a
        WHERE id = (a->>1)::bigint AND part = part_of((a->>1)::bigint)
            AND (a->>0)::bigint = ANY (ended.tokens);
    END IF;
    hosts := host_ids(p->'hosts', (p->>'asks_robots')::boolean);
    SELECT * INTO met FROM
        add_links(p->'links', hosts, ended.tokens, settings.partitions, refuse_queries(
            p->'queries', hosts, ended.tokens, settings.partitions,
            (p->>'max_queries')::integer
        ));
    versions := note_origins(p->'origins');
    ready := back.ready || again.ready || met.ready;
    pages := coalesce(ended.pages, 0) + coalesce(back.pages, 0) + coalesce(again.pages, 0);
    IF wanted > 0 THEN
        SELECT * INTO overdue FROM take_back(p_worker, now_s);
        ready := ready || overdue.ready;
        lost := overdue.lost;
        pages := pages + overdue.pages;
    END IF;
    PERFORM count_urls(p_worker, ended.changes || again.changes || met.changes);
    has_hosts := update_hosts(p_worker, ready, lost, p->'notes', hosts, now_s, shift);

    is_limited := settings.pages_left IS NOT NULL OR settings.bytes_left IS NOT NULL;
    IF is_limited THEN
        UPDATE crawl SET pages_left = pages_left + pages,
            bytes_left = bytes_left - coalesce(ended.bytes, 0)
        RETURNING * INTO settings;
        IF settings.bytes_left <= 0 THEN
            wanted := 0;
            reply := reply || '{"limit": "max_bytes"}';
        ELSIF settings.pages_left <= 0 THEN
            max_turn := -1;
            reply := reply || '{"limit": "max_pages"}';
        ELSIF settings.pages_left < wanted THEN
            wanted := settings.pages_left;
        END IF;
    END IF;
    IF wanted > 0 THEN
        hosts := hosts_in_turn(
            wanted, max_turn, per_host, now_s, NOT has_hosts AND NOT is_limited
        );
        IF hosts <> '{}' THEN
            SELECT * INTO leased_tokens, leased_pages FROM lease(p_worker, hosts, wanted,
                max_turn, per_host, now_s, now_s + (p->>'lease_s')::float8);
            IF is_limited THEN
                UPDATE crawl SET pages_left = pages_left - leased_pages;
            END IF;
            reply := reply || jsonb_build_object('claims', claims_of(leased_tokens));
        ELSE
            reply := reply || jsonb_build_object(
                'is_contended', first_host(max_turn, per_host, now_s) IS NOT NULL
            );
        END IF;
    END IF;

    SELECT count(*) INTO held FROM claim WHERE worker = p_worker;
    IF held <> (p->>'held')::bigint + coalesce(cardinality(leased_tokens), 0) THEN
        reply := reply || jsonb_build_object(
            'held', ARRAY(SELECT token FROM claim WHERE worker = p_worker));
    END IF;
    IF coalesce(cardinality(ended.tokens), 0) < jsonb_array_length(p->'ends') THEN
        reply := reply || jsonb_build_object('lost', ARRAY(
            SELECT (e->>0)::bigint FROM jsonb_array_elements(p->'ends') AS e
            WHERE (e->>0)::bigint <> ALL (coalesce(ended.tokens, '{}'))
        ));
    END IF;
    IF versions IS NOT NULL THEN
        reply := reply || jsonb_build_object('versions', versions);
    END IF;
    IF jsonb_array_length(p->'asks') > 0 THEN
        reply := reply || jsonb_build_object('origins', origins_of(p->'asks'));
    END IF;
    IF (p->>'late_at') IS NOT NULL THEN
        reply := reply || url_counts(
            (p->>'late_at')::float8 + shift, (p->>'is_by_depth')::boolean
        );
    END IF;
    IF (p->>'late_at') IS NOT NULL OR coalesce(cardinality(leased_tokens), 0) < wanted THEN
        reply := reply || jsonb_build_object(
            'due_at', next_time(now_s, per_host),
            'lease_ends_at', (SELECT min(lease_ends_at) FROM claim WHERE lease_ends_at > now_s),
            'is_drained', NOT EXISTS (SELECT FROM queue WHERE due_at IS NULL)
                AND NOT EXISTS (SELECT FROM queue WHERE due_at IS NOT NULL)
                AND NOT EXISTS (SELECT FROM claim)
        );
    END IF;
    RETURN reply || jsonb_build_object('queued', met.queued);
END $$;

-- Queue URLs that have ended, from outside a step; return how many.
CREATE FUNCTION frontier_requeue(ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    again record;
BEGIN
    LOCK TABLE worker IN ROW SHARE MODE;  -- as a step does, see `frontier_limit`
    SELECT * INTO again FROM requeue(ids);
    PERFORM count_urls(0, again.changes);
    PERFORM update_hosts(0, again.ready, '{}', '[]', '{}', 0, 0);
    UPDATE crawl SET pages_left = pages_left + again.pages WHERE pages_left IS NOT NULL;
    RETURN again.urls;
END $$;

-- Store what all workers crawl, unless that was done before; return what is stored.
CREATE FUNCTION frontier_begin(p_config text, p_gap_s float8, p_pages bigint, p_bytes bigint)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    UPDATE crawl SET config = p_config, gap_s = p_gap_s, pages_left = p_pages, bytes_left = p_bytes
    WHERE config IS NULL;
    RETURN (SELECT config FROM crawl);
END $$;

-- Set other limits, also while workers crawl.  What was begun before counts; what a step under way
-- has begun is known when it has ended.
CREATE FUNCTION frontier_limit(p_config text, p_pages bigint, p_bytes bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE worker IN EXCLUSIVE MODE;
    UPDATE crawl SET config = p_config,
        pages_left = p_pages - (
            SELECT coalesce(sum(urls), 0) FROM amount
            WHERE state IN ('done', 'failed') AND role < 2
        ) - (SELECT count(*) FROM claim WHERE role < 2),
        bytes_left = p_bytes - (SELECT coalesce(sum(size_bytes), 0) FROM amount);
END $$;

-- Return the number of a store, which is noted, and may have been moved.
CREATE FUNCTION store_of(p_key uuid, p_machine text, p_location text)
RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO store (id, key, machine, location)
    SELECT nextval('store_id'), p_key, p_machine, p_location
    WHERE NOT EXISTS (SELECT FROM store WHERE key = p_key)
    ON CONFLICT (key) DO NOTHING;
    UPDATE store SET machine = p_machine, location = p_location
    WHERE key = p_key AND (machine, location) <> (p_machine, p_location);
    RETURN (SELECT id FROM store WHERE key = p_key);
END $$;

-- No longer list a store, which has nothing; a worker that has it lists it again.
CREATE FUNCTION frontier_unlist(p_key uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE store SET location = '' WHERE key = p_key
$$;

-- Enter a worker, by the number of one that has gone if possible; return number and epoch, and when
-- the crawl was made: another of that name is not the one that the worker knows.
CREATE FUNCTION frontier_join(
    p_name text, p_key uuid, p_machine text, p_location text, alive_s float8, p_now float8
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    now_s float8 := coalesce(p_now, server_time());
    own_store integer;
    joined worker;
    -- At random: after a failover, numbers are given again that a lost commit has given.
    new_epoch bigint := random() * 9e15;
BEGIN
    -- One process at a time has a directory, so an earlier worker with this store is dead: what it
    -- had claimed need not wait.  But for one that is just making a step, its last.
    UPDATE worker SET alive_until = 0 WHERE id = ANY (ARRAY(
        SELECT worker.id FROM worker JOIN store ON store.id = worker.store
        WHERE store.key = p_key AND store.machine = p_machine AND p_location <> ''
        FOR NO KEY UPDATE OF worker SKIP LOCKED
    ));
    own_store := store_of(p_key, p_machine, p_location);
    PERFORM note_time(
        greatest((SELECT max(last_at) FROM amount), (SELECT max(alive_until) FROM worker) - alive_s),
        greatest((SELECT max(free_at) FROM host), (SELECT max(due_at) FROM queue)), alive_s, now_s
    );
    SELECT * INTO joined FROM worker
    WHERE alive_until <= now_s AND NOT EXISTS (SELECT FROM claim WHERE claim.worker = worker.id)
    ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE worker SET epoch = new_epoch, step = 0, alive_until = now_s + alive_s,
            store = own_store, name = p_name
        WHERE id = joined.id RETURNING * INTO joined;
    ELSE
        INSERT INTO worker (id, epoch, alive_until, store, name)
        VALUES (nextval('worker_id'), new_epoch, now_s + alive_s, own_store, p_name)
        RETURNING * INTO joined;
    END IF;
    RETURN jsonb_build_array(
        joined.id, joined.epoch, (SELECT extract(epoch FROM created_at)::text FROM crawl)
    );
END $$;

-- Say that a worker has gone; it has put everything back, and its number is free.
CREATE FUNCTION frontier_leave(p_worker integer, p_epoch bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE worker SET alive_until = 0 WHERE id = p_worker AND epoch = p_epoch
$$;
