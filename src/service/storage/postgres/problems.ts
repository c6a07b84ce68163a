import { SvcError } from '../../../core/errors.ts'
import { Refusal } from '../../../core/refusal.ts'
import type { DatabaseServer } from './database-url.ts'
import { codeOf } from './errors.ts'

type Problem = { code: string; message: string; hint: string }
type Describe = (server: DatabaseServer, error: Error) => Problem

const at = ({ host, port }: DatabaseServer): string => (host.startsWith('/') ? host : `${host}:${port}`)
const psql = ({ name }: DatabaseServer): string => `psql '${name}'`

const unreachable =
  (what: string): Describe =>
  (server) => ({
    code: 'database_unreachable',
    message: `The database cannot be reached: ${what} ${at(server)}`,
    hint: `Start PostgreSQL there, or correct the address. To check: pg_isready -h ${server.host} -p ${server.port}`,
  })

const silent: Describe = (server) => ({
  code: 'database_timeout',
  message: `The database at ${at(server)} does not answer`,
  hint: `Check that PostgreSQL listens on this port and that no firewall drops the connection: ${psql(server)}`,
})

const refusedLogin: Describe = (server) => ({
  code: 'database_login',
  message: `The database at ${at(server)} refuses the user ${server.user}`,
  hint: `Correct the user or the password in the URL, and check pg_hba.conf. To try: ${psql(server)}`,
})

const certificate: Describe = (server) => ({
  code: 'database_tls',
  message: `The certificate of the database at ${at(server)} is not trusted`,
  hint: 'Use the host name of the certificate. For a private authority, add ?sslrootcert=FILE to the URL',
})

/** The function of PostgreSQL that checks the right to connect. Unlike the message, its name is not translated. */
const connectCheck = 'CheckMyDatabase'

const noRights: Describe = ({ user, database }, error) =>
  (error as { routine?: string }).routine === connectCheck
    ? {
        code: 'database_rights',
        message: `The user ${user} may not connect to the database ${database}`,
        hint: `As a superuser or the owner: GRANT CONNECT ON DATABASE "${database}" TO "${user}"`,
      }
    : {
        code: 'database_rights',
        message: `The user ${user} lacks rights in the database ${database}`,
        hint: `Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}"; or GRANT CREATE, USAGE ON SCHEMA public TO "${user}"`,
      }

const starting: Describe = (server) => ({
  code: 'database_starting',
  message: `The database at ${at(server)} is starting or stopping`,
  hint: `Try again in a moment. To check: pg_isready -h ${server.host} -p ${server.port}`,
})

const damaged: Describe = ({ database }) => ({
  code: 'store_damaged',
  message: `The database ${database} is damaged, or is not a store of svc`,
  hint: 'Restore the last backup into an empty database: svc service restore BACKUP.db',
})

const problems: Record<string, Describe> = {
  ECONNREFUSED: unreachable('nothing listens at'),
  ENOENT: unreachable('there is no socket in'),
  ENOTFOUND: unreachable('no such host:'),
  EAI_AGAIN: unreachable('no such host:'),
  EHOSTUNREACH: unreachable('there is no route to'),
  ENETUNREACH: unreachable('there is no route to'),
  ETIMEDOUT: silent,
  ECONNRESET: unreachable('the connection was closed by'),
  EPIPE: unreachable('the connection was closed by'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  UNABLE_TO_GET_ISSUER_CERT: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  CERT_HAS_EXPIRED: certificate,
  CERT_NOT_YET_VALID: certificate,
  // SQLSTATE
  '28P01': refusedLogin,
  '28000': refusedLogin,
  '3D000': (server) => ({
    code: 'no_database',
    message: `The database ${server.database} does not exist at ${at(server)}`,
    hint: `createdb -h ${server.host} -p ${server.port} -O ${server.user} ${server.database}`,
  }),
  '42501': noRights,
  '25006': (server) => ({
    code: 'database_read_only',
    message: `The database at ${at(server)} is read-only`,
    hint: 'It is a standby, or default_transaction_read_only is on. Use the address of the primary',
  }),
  '53300': (server) => ({
    code: 'database_connections',
    message: `The database at ${at(server)} accepts no more connections`,
    hint: 'Raise max_connections in postgresql.conf, or use fewer for each node: svc serve --database-connections 5',
  }),
  '53100': (server) => ({
    code: 'database_disk_full',
    message: `The disk of the database at ${at(server)} is full`,
    hint: 'Free some space there, then run the command again',
  }),
  '57P03': starting,
  '57P01': starting,
  '42P01': damaged,
  '42703': damaged,
  XX001: damaged,
  XX002: damaged,
}

const byMessage: [RegExp, Describe][] = [
  [
    /password must be a string|password must be/,
    (server) => ({
      code: 'database_login',
      message: `The database at ${at(server)} requires a password for the user ${server.user}`,
      hint: 'Put it into the URL: postgres://svc:PASSWORD@db.example.com/svc, in SVC_DATABASE_URL or the file of --database-url-file',
    }),
  ],
  [
    /does not support SSL/,
    (server) => ({
      code: 'database_tls',
      message: `The database at ${at(server)} does not offer TLS`,
      hint: 'Set ssl = on, ssl_cert_file and ssl_key_file in postgresql.conf. svc never sends data unencrypted to another machine',
    }),
  ],
  [/timeout/, silent],
  [
    /^Connection terminated|^Received unexpected|^There was an error establishing an SSL/,
    unreachable('not PostgreSQL, or closed by'),
  ],
]

const inside = (error: unknown): Error => {
  const { cause } = error as { cause?: unknown }
  // A host with several addresses fails once for each.
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : []
  if (first) return first
  return error instanceof Refusal && cause instanceof Error ? cause : (error as Error)
}

/** An error of a database as an SvcError with the next command. */
export const asDatabaseProblem = (server: DatabaseServer, error: unknown): SvcError => {
  if (error instanceof SvcError) return error
  const original = inside(error)
  const describe =
    problems[codeOf(original) ?? ''] ?? byMessage.find(([text]) => text.test(original.message))?.[1]
  const { code, message, hint } = describe?.(server, original) ?? {
    code: 'database_failed',
    message: `The database at ${at(server)} cannot be used`,
    hint: `Check it: ${psql(server)}`,
  }
  return new SvcError('failed', code, message, { detail: original.message, hint, cause: error })
}
