--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: attestations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.attestations (
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    statement text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: audits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audits (
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    report text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: changes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.changes (
    sequence bigint NOT NULL,
    "time" bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: claims; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.claims (
    publication text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    claimed_at bigint NOT NULL
);


--
-- Name: files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.files (
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    executable integer NOT NULL
);


--
-- Name: grants; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.grants (
    subject text NOT NULL COLLATE pg_catalog."C",
    prefix text NOT NULL COLLATE pg_catalog."C",
    role integer NOT NULL
);


--
-- Name: id_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.id_tokens (
    key text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL
);


--
-- Name: migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.migrations (
    number integer NOT NULL,
    applied_at bigint NOT NULL
);


--
-- Name: misses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.misses (
    machine text NOT NULL COLLATE pg_catalog."C",
    day integer NOT NULL,
    skill text NOT NULL COLLATE pg_catalog."C",
    query text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);


--
-- Name: names; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.names (
    place text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    skill text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: origins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.origins (
    skill text NOT NULL COLLATE pg_catalog."C",
    mirrored integer NOT NULL
);


--
-- Name: people; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.people (
    subject text NOT NULL COLLATE pg_catalog."C",
    issuer text NOT NULL COLLATE pg_catalog."C",
    identity text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    groups text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    signed_in_at bigint NOT NULL
);


--
-- Name: publishers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.publishers (
    id text NOT NULL COLLATE pg_catalog."C",
    issuer text NOT NULL COLLATE pg_catalog."C",
    repository text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    prefix text NOT NULL COLLATE pg_catalog."C",
    ref text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    pin text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: reviews; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reviews (
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    reviewer text NOT NULL COLLATE pg_catalog."C",
    reviewed_at bigint,
    reason text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    used_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint
);


--
-- Name: skills; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.skills (
    id text NOT NULL COLLATE pg_catalog."C",
    deleted_at bigint
);


--
-- Name: tags; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tags (
    skill text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    role integer NOT NULL,
    prefix text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    parent text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    publisher text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    build text DEFAULT '{}'::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.usage (
    machine text NOT NULL COLLATE pg_catalog."C",
    day integer NOT NULL,
    skill text NOT NULL COLLATE pg_catalog."C",
    file text NOT NULL COLLATE pg_catalog."C",
    section text NOT NULL COLLATE pg_catalog."C",
    command text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);


--
-- Name: versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.versions (
    skill text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    frontmatter text NOT NULL COLLATE pg_catalog."C",
    archive text NOT NULL COLLATE pg_catalog."C",
    archive_size bigint NOT NULL,
    published_at bigint NOT NULL,
    published_by text NOT NULL COLLATE pg_catalog."C",
    note text NOT NULL COLLATE pg_catalog."C",
    yanked text COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    status text DEFAULT 'approved'::text NOT NULL COLLATE pg_catalog."C",
    audit text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    signature text DEFAULT '{}'::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Data for Name: attestations; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audits; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audits VALUES ('payments/waiting', '0.1.0', '{"findings": [{"level": "note"}]}');


--
-- Data for Name: changes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.changes VALUES (1, 1795126955501948, 'system', '', 'grant', '', '', '{"grant": {"subject": "admin", "role": "admin", "prefix": ""}}');
INSERT INTO public.changes VALUES (2, 1795126955501948, 'system', '', 'create-token', '', '', '{"id": "213aef63ff77af45", "owner": "admin", "role": "admin", "prefix": ""}');
INSERT INTO public.changes VALUES (3, 1795126955504034, 'system', '', 'grant', '', '', '{"grant": {"subject": "ana", "role": "publisher", "prefix": "payments"}}');
INSERT INTO public.changes VALUES (4, 1795126955504648, 'system', '', 'create-token', '', '', '{"id": "f6881638b5450cec", "owner": "ana", "role": "reader", "prefix": "payments"}');
INSERT INTO public.changes VALUES (5, 1795126955516353, 'system', '', 'publish', 'payments/refunds', '1.0.0', '{"digest": "sha256:798526bb7e474554b1a5413ba8355178e3c21571024195f3fb662ef225c5ce6a", "tag": "stable"}');
INSERT INTO public.changes VALUES (6, 1795126955526067, 'system', '', 'publish', 'payments/refunds', '1.1.0', '{"digest": "sha256:2270112270a16d770976a656a97a688f3d5bb60e148b76a2ba371787b7d81857", "tag": "latest"}');
INSERT INTO public.changes VALUES (7, 1795126955528017, 'system', '', 'yank', 'payments/refunds', '1.1.0', '{"reason": "it pays twice"}');
INSERT INTO public.changes VALUES (8, 1795126955539114, 'system', '', 'publish', 'payments/deleted', '0.1.0', '{"digest": "sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666", "tag": "latest"}');
INSERT INTO public.changes VALUES (9, 1795126955544071, 'system', '', 'delete', 'payments/deleted', '', '{}');
INSERT INTO public.changes VALUES (10, 1795126955548696, 'ana', '', 'publish', 'payments/waiting', '0.1.0', '{"digest": "sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666", "tag": "latest", "status": "pending"}');


--
-- Data for Name: claims; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: files; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.files VALUES ('payments/refunds', '1.0.0', 'SKILL.md', 60, 'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664', 0);
INSERT INTO public.files VALUES ('payments/refunds', '1.0.0', 'scripts/run.sh', 10, 'sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf', 1);
INSERT INTO public.files VALUES ('payments/refunds', '1.1.0', 'SKILL.md', 66, 'sha256:c4b35fc3a8994784a2516e9ad7b41545b528919b51ac4d0ec9f8e0a083c25cba', 0);
INSERT INTO public.files VALUES ('payments/refunds', '1.1.0', 'scripts/run.sh', 10, 'sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf', 1);
INSERT INTO public.files VALUES ('payments/deleted', '0.1.0', 'SKILL.md', 60, 'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664', 0);
INSERT INTO public.files VALUES ('payments/waiting', '0.1.0', 'SKILL.md', 60, 'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664', 0);


--
-- Data for Name: grants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.grants VALUES ('admin', '', 4);
INSERT INTO public.grants VALUES ('ana', 'payments', 2);


--
-- Data for Name: id_tokens; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.migrations VALUES (1, 1795126955450862);
INSERT INTO public.migrations VALUES (2, 1795126955468191);
INSERT INTO public.migrations VALUES (3, 1795126955486801);
INSERT INTO public.migrations VALUES (4, 1795126955495890);
INSERT INTO public.migrations VALUES (5, 1795126955500106);


--
-- Data for Name: misses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.misses VALUES ('00c0ffee00c0ffee00c0ffee00c0ffee', 739939, '', 'teleport', 1);


--
-- Data for Name: names; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.names VALUES ('', 'refunds', 'payments/refunds');
INSERT INTO public.names VALUES ('payments', 'refunds', 'payments/refunds');
INSERT INTO public.names VALUES ('payments/refunds', 'refunds', 'payments/refunds');
INSERT INTO public.names VALUES ('', 'deleted', 'payments/deleted');
INSERT INTO public.names VALUES ('payments', 'deleted', 'payments/deleted');
INSERT INTO public.names VALUES ('payments/deleted', 'deleted', 'payments/deleted');


--
-- Data for Name: origins; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.origins VALUES ('payments/refunds', 0);
INSERT INTO public.origins VALUES ('payments/deleted', 0);
INSERT INTO public.origins VALUES ('payments/waiting', 0);


--
-- Data for Name: people; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: publishers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: reviews; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reviews VALUES ('payments/waiting', '0.1.0', 'latest', '', NULL, '');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: skills; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.skills VALUES ('payments/refunds', NULL);
INSERT INTO public.skills VALUES ('payments/deleted', 1795126955544071);
INSERT INTO public.skills VALUES ('payments/waiting', NULL);


--
-- Data for Name: tags; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tags VALUES ('payments/refunds', 'stable', '1.0.0');
INSERT INTO public.tags VALUES ('payments/refunds', 'latest', '1.1.0');
INSERT INTO public.tags VALUES ('payments/deleted', 'latest', '0.1.0');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('213aef63ff77af45', '2e231dd86071ad112555daec208d6fe34806a37321b8bf206c8c028be8dfac2b', 'admin', 4, '', 'first start', '', 1795126955501948, NULL, NULL, '', '{}');
INSERT INTO public.tokens VALUES ('00c0ffee00c0ffee', '0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a', 'ana', 1, 'payments', 'token', '', 1795126955504648, NULL, NULL, '', '{}');


--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.usage VALUES ('00c0ffee00c0ffee00c0ffee00c0ffee', 739939, 'payments/refunds', '', 'Refunds', 'show', 3);


--
-- Data for Name: versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.versions VALUES ('payments/refunds', '1.0.0', 'sha256:798526bb7e474554b1a5413ba8355178e3c21571024195f3fb662ef225c5ce6a', '{"name": "refunds", "description": "Pay money back"}', 'sha256:91506ea76774e76ad7a989a2087f855d541baae2a1a2eab4a5fc49e6e73758f6', 193, 1795126955516353, 'system', '', NULL, 5, 'approved', '', '{}');
INSERT INTO public.versions VALUES ('payments/refunds', '1.1.0', 'sha256:2270112270a16d770976a656a97a688f3d5bb60e148b76a2ba371787b7d81857', '{"name": "refunds", "description": "Pay money back"}', 'sha256:33e83a7163b6ce638349a414f53bf790c9bbaee3f9a897e47413aa48a1ff5796', 198, 1795126955526067, 'system', 'déjà vu 🦊', 'it pays twice', 6, 'approved', '', '{}');
INSERT INTO public.versions VALUES ('payments/deleted', '0.1.0', 'sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666', '{"name": "refunds", "description": "Pay money back"}', 'sha256:e0aa670785b007426bb7d37844d277162a8a62a03f02b71eb88e2cd3fb6298e6', 154, 1795126955539114, 'system', '', NULL, 8, 'approved', '', '{}');
INSERT INTO public.versions VALUES ('payments/waiting', '0.1.0', 'sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666', '{"name": "refunds", "description": "Pay money back"}', 'sha256:e0aa670785b007426bb7d37844d277162a8a62a03f02b71eb88e2cd3fb6298e6', 154, 1795126955548696, 'ana', '', NULL, 10, 'pending', 'note', '{}');


--
-- Name: attestations attestations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attestations
    ADD CONSTRAINT attestations_pkey PRIMARY KEY (skill, version);


--
-- Name: audits audits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_pkey PRIMARY KEY (skill, version);


--
-- Name: changes changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (sequence);


--
-- Name: claims claims_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (publication, digest);


--
-- Name: files files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (skill, version, path);


--
-- Name: grants grants_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (subject, prefix);


--
-- Name: id_tokens id_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.id_tokens
    ADD CONSTRAINT id_tokens_pkey PRIMARY KEY (key);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);


--
-- Name: misses misses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.misses
    ADD CONSTRAINT misses_pkey PRIMARY KEY (machine, day, skill, query);


--
-- Name: names names_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.names
    ADD CONSTRAINT names_pkey PRIMARY KEY (place, name);


--
-- Name: origins origins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.origins
    ADD CONSTRAINT origins_pkey PRIMARY KEY (skill);


--
-- Name: people people_issuer_identity_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_issuer_identity_key UNIQUE (issuer, identity);


--
-- Name: people people_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (subject);


--
-- Name: publishers publishers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.publishers
    ADD CONSTRAINT publishers_pkey PRIMARY KEY (id);


--
-- Name: reviews reviews_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (skill, version);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: skills skills_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.skills
    ADD CONSTRAINT skills_pkey PRIMARY KEY (id);


--
-- Name: tags tags_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_pkey PRIMARY KEY (skill, tag);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (machine, day, skill, file, section, command);


--
-- Name: versions versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (skill, version);


--
-- Name: claims_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX claims_digest ON public.claims USING btree (digest);


--
-- Name: files_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX files_digest ON public.files USING btree (digest);


--
-- Name: misses_skill; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX misses_skill ON public.misses USING btree (skill, day);


--
-- Name: names_skill; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX names_skill ON public.names USING btree (skill, place);


--
-- Name: sessions_subject; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_subject ON public.sessions USING btree (subject);


--
-- Name: usage_skill; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_skill ON public.usage USING btree (skill, day);


--
-- Name: versions_archive; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX versions_archive ON public.versions USING btree (archive);


--
-- Name: versions_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX versions_status ON public.versions USING btree (status, sequence) WHERE (status <> 'approved'::text);


--
-- Name: attestations attestations_skill_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attestations
    ADD CONSTRAINT attestations_skill_version_fkey FOREIGN KEY (skill, version) REFERENCES public.versions(skill, version) ON DELETE CASCADE;


--
-- Name: audits audits_skill_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_skill_version_fkey FOREIGN KEY (skill, version) REFERENCES public.versions(skill, version) ON DELETE CASCADE;


--
-- Name: files files_skill_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_skill_version_fkey FOREIGN KEY (skill, version) REFERENCES public.versions(skill, version) ON DELETE CASCADE;


--
-- Name: reviews reviews_skill_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_skill_version_fkey FOREIGN KEY (skill, version) REFERENCES public.versions(skill, version) ON DELETE CASCADE;


--
-- Name: tags tags_skill_version_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_skill_version_fkey FOREIGN KEY (skill, version) REFERENCES public.versions(skill, version) ON DELETE CASCADE;


--
-- Name: versions versions_skill_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_skill_fkey FOREIGN KEY (skill) REFERENCES public.skills(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


