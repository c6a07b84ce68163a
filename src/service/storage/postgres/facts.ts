import type { ClientBase, Pool } from 'pg'
import { tableNames } from '../schema.ts'

/** What a server says about itself and about the rights of this user. */
export type Facts = {
  /** As in `server_version_num`: 150004. */
  version: number
  version_text: string
  /** The user of this connection. */
  role: string
  standby: boolean
  encoding: string
  fsync: boolean
  synchronous_commit: string
  standby_names: string
  /** Connected standbys, without backups where this user can tell. */
  standbys: number
  /** Those that a commit waits for. Null if this user cannot see them. */
  synchronous_standbys: number | null
  /** Null if no schema of the search path exists. */
  schema: string | null
  may_create: boolean | null
  max_connections: number
  used_connections: number
  /** Whether the connection is encrypted. */
  tls: boolean
  /** The clock of the server, milliseconds since 1970. */
  time: number
  /** How far the slowest standby is behind. Null if there is none, or if this user cannot see it. */
  lag_bytes: number | null
  /** When WAL was last archived, milliseconds since 1970. Null if none was. */
  archived_at: number | null
  /** What changes or hides rows of svc on their way: `trigger x on audit`. Null if there is nothing. */
  between: string | null
}

const factsQuery = `
  with standbys as (
    select sync_state, replay_lsn from pg_stat_replication
    where state is distinct from 'backup'
      and coalesce(application_name, '') not in ('pg_basebackup', 'pg_receivewal')
  )
  select current_setting('server_version_num')::int as version,
    current_setting('server_version') as version_text,
    current_user::text as role,
    pg_is_in_recovery() as standby,
    current_setting('server_encoding') as encoding,
    current_setting('fsync') = 'on' as fsync,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('synchronous_standby_names') as standby_names,
    (select count(*) from standbys) as standbys,
    case when pg_has_role('pg_monitor', 'usage')
      then (select count(*) from standbys where sync_state in ('sync', 'quorum')) end as synchronous_standbys,
    current_schema() as schema,
    has_schema_privilege(current_schema(), 'create') as may_create,
    current_setting('max_connections')::int as max_connections,
    (select count(*) from pg_stat_activity where backend_type = 'client backend' or backend_type is null)
      as used_connections,
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as tls,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as time,
    case when not pg_is_in_recovery()
      then (select max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 from standbys) end as lag_bytes,
    (select extract(epoch from last_archived_time) * 1000 from pg_stat_archiver)::float8 as archived_at,
    (select string_agg(what || ' on ' || relname, ', ') from (
      select 'trigger ' || tgname as what, tgrelid as id from pg_trigger where not tgisinternal
      union all select 'rule ' || rulename, ev_class from pg_rewrite
      union all select 'policy ' || polname, polrelid from pg_policy
      union all select 'table ' || inhrelid::regclass, inhparent from pg_inherits
      union all select 'no primary key', oid from pg_class where relkind = 'r'
        and not exists (select from pg_constraint where conrelid = pg_class.oid and contype = 'p')
      union all select 'type ' || format_type(atttypid, null) || ' of ' || attname, attrelid from pg_attribute
        where attnum > 0 and not attisdropped and (attcollation not in (0, '"C"'::regcollation)
          or atttypid not in ('bigint'::regtype, 'double precision'::regtype, 'text'::regtype))
    ) as found join pg_class on pg_class.oid = id
    where relnamespace = pg_catalog.to_regnamespace(current_schema()::text) and relname = any($1)) as between
`

export const readFacts = async (client: Pick<ClientBase | Pool, 'query'>): Promise<Facts> =>
  (await client.query<Facts>(factsQuery, [tableNames])).rows[0]!

const waitForCommits = (role: string): string =>
  `ALTER ROLE "${role}" SET synchronous_commit = on; running nodes follow within five minutes, or after a restart`

/** Why a crash or a failover could lose acknowledged writes; undefined if it could not, as far as this user can see. */
export const dataLoss = ({
  role,
  fsync,
  synchronous_commit,
  standby_names,
  standbys,
  synchronous_standbys,
}: Facts): { reason: string; solution: string } | undefined => {
  if (!fsync)
    return {
      reason: 'fsync is off, so a crash of the machine can destroy the database',
      solution: 'ALTER SYSTEM SET fsync = on, and reload PostgreSQL',
    }
  if (synchronous_commit === 'off')
    return {
      reason: 'synchronous_commit is off, so a crash loses writes that were acknowledged',
      solution: waitForCommits(role),
    }
  if (synchronous_commit === 'local' && standby_names !== '')
    return {
      reason: 'synchronous_commit is local, so a failover loses writes that were acknowledged',
      solution: waitForCommits(role),
    }
  if (standbys > 0 && standby_names === '')
    return {
      reason: `replication to ${standbys === 1 ? 'the standby' : `the ${standbys} standbys`} is asynchronous, so a failover loses writes that were acknowledged`,
      solution: `Set synchronous_standby_names, for example to 'ANY 1 (*)'${
        synchronous_standbys === null
          ? `. If it is only a running backup, let svc see that: GRANT pg_monitor TO "${role}"`
          : ''
      }`,
    }
  return undefined
}

/** What could be lost although svc starts; undefined if nothing could, as far as this user can see. */
export const riskOf = (facts: Facts): string | undefined =>
  dataLoss(facts)?.reason ??
  (facts.standbys === 0
    ? 'no standby is connected, so a lost disk loses what the last backup lacks'
    : undefined)

/** Whether no standby is connected for which writes wait. */
export const waitsForStandby = ({ standby_names, synchronous_standbys }: Facts): boolean =>
  standby_names !== '' && synchronous_standbys === 0

export const replicationRisks = ['loses_writes', 'writes_wait', 'no_standby'] as const

export type Replication = Pick<Facts, 'lag_bytes' | 'archived_at'> & {
  risk: (typeof replicationRisks)[number] | undefined
}

export const replicationOf = (facts: Facts): Replication => {
  const { lag_bytes, archived_at, standbys } = facts
  const calm = standbys === 0 ? 'no_standby' : undefined
  const risk = dataLoss(facts) ? 'loses_writes' : waitsForStandby(facts) ? 'writes_wait' : calm
  return { lag_bytes, archived_at, risk }
}
