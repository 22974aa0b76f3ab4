BEGIN TRANSACTION;
CREATE TABLE attestations (skill TEXT NOT NULL, version TEXT NOT NULL, statement TEXT NOT NULL,
        PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE);
CREATE TABLE audits (skill TEXT NOT NULL, version TEXT NOT NULL, report TEXT NOT NULL,
        PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE);
INSERT INTO "audits" VALUES('payments/waiting','0.1.0','{"findings": [{"level": "note"}]}');
CREATE TABLE changes (sequence BIGINT PRIMARY KEY, time BIGINT NOT NULL, subject TEXT NOT NULL,
        token TEXT NOT NULL, action TEXT NOT NULL, skill TEXT NOT NULL, version TEXT NOT NULL,
        detail TEXT NOT NULL);
INSERT INTO "changes" VALUES(1,1795126953302793,'system','','grant','','','{"grant": {"subject": "admin", "role": "admin", "prefix": ""}}');
INSERT INTO "changes" VALUES(2,1795126953302793,'system','','create-token','','','{"id": "fb197bbbdf306fb2", "owner": "admin", "role": "admin", "prefix": ""}');
INSERT INTO "changes" VALUES(3,1795126953306724,'system','','grant','','','{"grant": {"subject": "ana", "role": "publisher", "prefix": "payments"}}');
INSERT INTO "changes" VALUES(4,1795126953310680,'system','','create-token','','','{"id": "93bb02647e7e6859", "owner": "ana", "role": "reader", "prefix": "payments"}');
INSERT INTO "changes" VALUES(5,1795126953335349,'system','','publish','payments/refunds','1.0.0','{"digest": "sha256:798526bb7e474554b1a5413ba8355178e3c21571024195f3fb662ef225c5ce6a", "tag": "stable"}');
INSERT INTO "changes" VALUES(6,1795126953351425,'system','','publish','payments/refunds','1.1.0','{"digest": "sha256:2270112270a16d770976a656a97a688f3d5bb60e148b76a2ba371787b7d81857", "tag": "latest"}');
INSERT INTO "changes" VALUES(7,1795126953353155,'system','','yank','payments/refunds','1.1.0','{"reason": "it pays twice"}');
INSERT INTO "changes" VALUES(8,1795126953375467,'system','','publish','payments/deleted','0.1.0','{"digest": "sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666", "tag": "latest"}');
INSERT INTO "changes" VALUES(9,1795126953378699,'system','','delete','payments/deleted','','{}');
INSERT INTO "changes" VALUES(10,1795126953390930,'ana','','publish','payments/waiting','0.1.0','{"digest": "sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666", "tag": "latest", "status": "pending"}');
CREATE TABLE claims (publication TEXT NOT NULL, digest TEXT NOT NULL, claimed_at BIGINT NOT NULL,
        PRIMARY KEY (publication, digest));
CREATE TABLE files (skill TEXT NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL,
        size BIGINT NOT NULL, digest TEXT NOT NULL, executable INTEGER NOT NULL,
        PRIMARY KEY (skill, version, path),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE);
INSERT INTO "files" VALUES('payments/refunds','1.0.0','SKILL.md',60,'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664',0);
INSERT INTO "files" VALUES('payments/refunds','1.0.0','scripts/run.sh',10,'sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf',1);
INSERT INTO "files" VALUES('payments/refunds','1.1.0','SKILL.md',66,'sha256:c4b35fc3a8994784a2516e9ad7b41545b528919b51ac4d0ec9f8e0a083c25cba',0);
INSERT INTO "files" VALUES('payments/refunds','1.1.0','scripts/run.sh',10,'sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf',1);
INSERT INTO "files" VALUES('payments/deleted','0.1.0','SKILL.md',60,'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664',0);
INSERT INTO "files" VALUES('payments/waiting','0.1.0','SKILL.md',60,'sha256:0ba97bfd14175618d14f2f447bfd912588248c7a23e263450ac793740a2ad664',0);
CREATE TABLE grants (subject TEXT NOT NULL, prefix TEXT NOT NULL, role INTEGER NOT NULL,
        PRIMARY KEY (subject, prefix));
INSERT INTO "grants" VALUES('admin','',4);
INSERT INTO "grants" VALUES('ana','payments',2);
CREATE TABLE id_tokens (key TEXT PRIMARY KEY, expires_at BIGINT NOT NULL);
CREATE TABLE migrations (number INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL);
INSERT INTO "migrations" VALUES(1,1795126953292763);
INSERT INTO "migrations" VALUES(2,1795126953294649);
INSERT INTO "migrations" VALUES(3,1795126953295068);
INSERT INTO "migrations" VALUES(4,1795126953295185);
INSERT INTO "migrations" VALUES(5,1795126953295441);
CREATE TABLE misses (machine TEXT NOT NULL, day INTEGER NOT NULL, skill TEXT NOT NULL,
        query TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (machine, day, skill, query));
INSERT INTO "misses" VALUES('00c0ffee00c0ffee00c0ffee00c0ffee',739939,'','teleport',1);
CREATE TABLE names (place TEXT NOT NULL, name TEXT NOT NULL, skill TEXT NOT NULL, PRIMARY KEY (place, name));
INSERT INTO "names" VALUES('','refunds','payments/refunds');
INSERT INTO "names" VALUES('payments','refunds','payments/refunds');
INSERT INTO "names" VALUES('payments/refunds','refunds','payments/refunds');
INSERT INTO "names" VALUES('','deleted','payments/deleted');
INSERT INTO "names" VALUES('payments','deleted','payments/deleted');
INSERT INTO "names" VALUES('payments/deleted','deleted','payments/deleted');
CREATE TABLE origins (skill TEXT PRIMARY KEY, mirrored INTEGER NOT NULL);
INSERT INTO "origins" VALUES('payments/refunds',0);
INSERT INTO "origins" VALUES('payments/deleted',0);
INSERT INTO "origins" VALUES('payments/waiting',0);
CREATE TABLE people (subject TEXT PRIMARY KEY, issuer TEXT NOT NULL, identity TEXT NOT NULL,
        name TEXT NOT NULL, email TEXT NOT NULL, groups TEXT NOT NULL, created_at BIGINT NOT NULL,
        signed_in_at BIGINT NOT NULL, UNIQUE (issuer, identity));
CREATE TABLE publishers (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, repository TEXT NOT NULL,
        workflow TEXT NOT NULL, prefix TEXT NOT NULL, ref TEXT NOT NULL, environment TEXT NOT NULL,
        pin TEXT NOT NULL, created_at BIGINT NOT NULL, created_by TEXT NOT NULL);
CREATE TABLE reviews (skill TEXT NOT NULL, version TEXT NOT NULL, tag TEXT NOT NULL,
        reviewer TEXT NOT NULL, reviewed_at BIGINT, reason TEXT NOT NULL, PRIMARY KEY (skill, version),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE);
INSERT INTO "reviews" VALUES('payments/waiting','0.1.0','latest','',NULL,'');
CREATE TABLE sessions (id TEXT PRIMARY KEY, hash TEXT NOT NULL, subject TEXT NOT NULL,
        token TEXT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL, revoked_at BIGINT);
CREATE TABLE skills (id TEXT PRIMARY KEY, deleted_at BIGINT);
INSERT INTO "skills" VALUES('payments/refunds',NULL);
INSERT INTO "skills" VALUES('payments/deleted',1795126953378699);
INSERT INTO "skills" VALUES('payments/waiting',NULL);
CREATE TABLE tags (skill TEXT NOT NULL, tag TEXT NOT NULL, version TEXT NOT NULL,
        PRIMARY KEY (skill, tag),
        FOREIGN KEY (skill, version) REFERENCES versions (skill, version) ON DELETE CASCADE);
INSERT INTO "tags" VALUES('payments/refunds','stable','1.0.0');
INSERT INTO "tags" VALUES('payments/refunds','latest','1.1.0');
INSERT INTO "tags" VALUES('payments/deleted','latest','0.1.0');
CREATE TABLE tokens (id TEXT PRIMARY KEY, hash TEXT NOT NULL, owner TEXT NOT NULL,
        role INTEGER NOT NULL, prefix TEXT NOT NULL, label TEXT NOT NULL, parent TEXT NOT NULL,
        created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, publisher TEXT NOT NULL DEFAULT '', build TEXT NOT NULL DEFAULT '{}');
INSERT INTO "tokens" VALUES('fb197bbbdf306fb2','1a74721c55646fcf4aafd80e9d5a2c2cf230b58609f72c965b165d3d836c6cb8','admin',4,'','first start','',1795126953302793,NULL,NULL,'','{}');
INSERT INTO "tokens" VALUES('00c0ffee00c0ffee','0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a','ana',1,'payments','token','',1795126953310680,NULL,NULL,'','{}');
CREATE TABLE usage (machine TEXT NOT NULL, day INTEGER NOT NULL, skill TEXT NOT NULL,
        file TEXT NOT NULL, section TEXT NOT NULL, command TEXT NOT NULL, count BIGINT NOT NULL,
        PRIMARY KEY (machine, day, skill, file, section, command));
INSERT INTO "usage" VALUES('00c0ffee00c0ffee00c0ffee00c0ffee',739939,'payments/refunds','','Refunds','show',3);
CREATE TABLE versions (skill TEXT NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
        version TEXT NOT NULL, digest TEXT NOT NULL, frontmatter TEXT NOT NULL, archive TEXT NOT NULL,
        archive_size BIGINT NOT NULL, published_at BIGINT NOT NULL, published_by TEXT NOT NULL,
        note TEXT NOT NULL, yanked TEXT, sequence BIGINT NOT NULL, status TEXT NOT NULL DEFAULT 'approved', audit TEXT NOT NULL DEFAULT '', signature TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (skill, version));
INSERT INTO "versions" VALUES('payments/refunds','1.0.0','sha256:798526bb7e474554b1a5413ba8355178e3c21571024195f3fb662ef225c5ce6a','{"name": "refunds", "description": "Pay money back"}','sha256:91506ea76774e76ad7a989a2087f855d541baae2a1a2eab4a5fc49e6e73758f6',193,1795126953335349,'system','',NULL,5,'approved','','{}');
INSERT INTO "versions" VALUES('payments/refunds','1.1.0','sha256:2270112270a16d770976a656a97a688f3d5bb60e148b76a2ba371787b7d81857','{"name": "refunds", "description": "Pay money back"}','sha256:33e83a7163b6ce638349a414f53bf790c9bbaee3f9a897e47413aa48a1ff5796',198,1795126953351425,'system','déjà vu 🦊','it pays twice',6,'approved','','{}');
INSERT INTO "versions" VALUES('payments/deleted','0.1.0','sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666','{"name": "refunds", "description": "Pay money back"}','sha256:e0aa670785b007426bb7d37844d277162a8a62a03f02b71eb88e2cd3fb6298e6',154,1795126953375467,'system','',NULL,8,'approved','','{}');
INSERT INTO "versions" VALUES('payments/waiting','0.1.0','sha256:70c6030ddd23593b29c56aa107b3dac89eb26ba8c453a28e5094aecf91bc1666','{"name": "refunds", "description": "Pay money back"}','sha256:e0aa670785b007426bb7d37844d277162a8a62a03f02b71eb88e2cd3fb6298e6',154,1795126953390930,'ana','',NULL,10,'pending','note','{}');
CREATE INDEX versions_archive ON versions (archive);
CREATE INDEX files_digest ON files (digest);
CREATE INDEX claims_digest ON claims (digest);
CREATE INDEX sessions_subject ON sessions (subject);
CREATE INDEX versions_status ON versions (status, sequence) WHERE status <> 'approved';
CREATE INDEX usage_skill ON usage (skill, day);
CREATE INDEX misses_skill ON misses (skill, day);
CREATE UNIQUE INDEX names_skill ON names (skill, place);
COMMIT;
