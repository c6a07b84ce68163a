import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPrograms } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The statements of one new geofence, with the key, the lock and the row in the audit, as a node sends them. */
const script = (organizations: readonly number[]): string => `\\set at random(1, ${organizations.length})
select ('{${organizations.join(',')}}'::int[])[:at] as org \\gset
begin;
select pg_advisory_xact_lock(:org), floor(extract(epoch from clock_timestamp()) * 1000)::bigint;
select coalesce(max(seq), 0) + 1 as seq from audit where org_id = :org \\gset
select (select coalesce(expires_at, '9') from api_keys where id = 1 and revoked_at is null),
  (select case when exists (select 1 from rule_heads where org_id = o.id) then 1 else 0 end
    from organizations o where id = :org);
insert into geofences (org_id, name, latitude, longitude, radius, is_active, created_at, updated_at)
  values (:org, 'Bench', 47.6, -122.3, 100, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z') returning *;
select value from organization_limits where org_id = :org and name = 'geofences';
insert into audit (org_id, seq, at, actor, action, subject, changes, request_id, rules, newest_key, newest_user, newest_device, prev_hash, hash, row_mac)
  values (:org, :seq, '9999', 'bench', 'createGeofence', 'geofence:1', '["name"]', 'req_1', 0, 0, 0, 0, repeat('0', 64), repeat('0', 64), repeat('0', 43));
commit;
`

/** Writes per second of pgbench with the statements of a node: what the database can do without one. */
export const pgbenchWrites = (
  url: string,
  { organizations, clients, seconds }: { organizations: readonly number[]; clients: number; seconds: number },
): number => {
  const { path, remove } = temporaryFolder()
  try {
    const file = join(path, 'write.sql')
    writeFileSync(file, script(organizations))
    const text = execFileSync(
      join(findPrograms(), 'pgbench'),
      ['-n', '-M', 'prepared', '-c', `${clients}`, '-T', `${seconds}`, '-f', file, url],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    )
    return Number(/^tps = ([\d.]+)/m.exec(text)![1])
  } finally {
    remove()
  }
}
