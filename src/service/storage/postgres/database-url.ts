import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { ClientConfig } from 'pg'
import { SvcError, usageError } from '../../../core/errors.ts'
import { isLoopbackHost } from '../../../core/loopback.ts'

/** What the driver needs to connect. `name` is the address without the password, for people. */
export type DatabaseServer = {
  host: string
  port: number
  user: string
  password?: string
  database: string
  ssl: NonNullable<ClientConfig['ssl']>
  name: string
}

const example = 'Example: postgres://svc@db.example.com/svc'
const encode = 'Write / as %2F, @ as %40, # as %23, ? as %3F and % as %25 in a password'

const decoded = (text: string, from: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw usageError(`${from} contains a % that does not encode a character`, encode)
  }
}

/** The URL, in which every part is where it belongs. What cannot be read is not shown, because it may be a password. */
const parse = (text: string, from: string): URL => {
  const [scheme] = /^[a-z][a-z\d+.-]*(?=:\/\/)/i.exec(text) ?? []
  if (scheme === undefined)
    throw usageError(`${from} is not a URL (not shown, because it may contain a password)`, example)
  if (!/^postgres(?:ql)?$/i.test(scheme))
    throw usageError(`${from} must start with postgres://, not ${scheme}://`, example)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.hash || `${url.pathname}${url.search}`.includes('@'))
    throw usageError(`${from} is not a valid URL (not shown, because it may contain a password)`, encode)
  return url
}

const known = ['host', 'sslmode', 'sslrootcert'] as const

const parametersOf = (url: URL, from: string): Partial<Record<(typeof known)[number], string>> => {
  for (const name of url.searchParams.keys()) {
    if (name === 'password')
      throw usageError(
        `${from} must not contain the parameter password`,
        'Example: postgres://svc:PASSWORD@db.example.com/svc',
      )
    if (!known.some((one) => one === name))
      throw usageError(
        `${from} contains an unknown parameter: ${name}`,
        `Known parameters: ${known.join(', ')}. Number of connections: svc serve --database-connections 10`,
      )
  }
  return Object.fromEntries(url.searchParams)
}

const readCertificate = (file: string, from: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SvcError('usage', 'database_ca_unreadable', `sslrootcert=${file} in ${from} cannot be read`, {
      detail: (error as Error).message,
      hint: 'Use a PEM file with the certificate of the authority, readable by this user',
      cause: error,
    })
  }
}

/** TLS with a verified certificate, except on this machine, where nobody can listen in. */
const readTls = (
  host: string,
  { sslmode, sslrootcert }: { sslmode?: string; sslrootcert?: string },
  from: string,
): DatabaseServer['ssl'] => {
  const local = host.startsWith('/') || isLoopbackHost(host)
  if (sslmode !== undefined && sslmode !== 'verify-full' && !(local && sslmode === 'disable'))
    throw usageError(
      `${from}: sslmode=${sslmode} does not verify the certificate of ${host}`,
      'Use sslmode=verify-full or leave it out. For a private authority, add sslrootcert=FILE',
    )
  if (local && sslmode === undefined && sslrootcert === undefined) return false
  if (sslmode === 'disable') return false
  // For an address, the driver passes no name to compare with the certificate.
  return {
    host,
    ...(sslrootcert !== undefined && { ca: readCertificate(sslrootcert, from) }),
  } as DatabaseServer['ssl']
}

/** Reads the address of a database. Throws a usage error that names `from`, where a person set it, and never a password. */
export const readDatabaseUrl = (text: string, from = 'SVC_DATABASE_URL'): DatabaseServer => {
  const url = parse(text.trim(), from)
  const parameters = parametersOf(url, from)
  const host = parameters.host ?? decoded(url.hostname, from).replace(/^\[(.*)\]$/, '$1')
  const database = decoded(url.pathname.slice(1), from)
  const typed = `postgres://${url.username && `${url.username}@`}${url.host}${url.pathname}`
  if (host === '') throw usageError(`${from} names no host: ${typed}`, example)
  if (host.includes(','))
    throw usageError(
      `${from} names several hosts: ${host}`,
      'Use one address that always leads to the primary, such as a proxy',
    )
  if (database === '' || database.includes('/'))
    throw usageError(`${from} names no database: ${typed}`, 'Example: postgres://svc@db.example.com/svc')
  const password = decoded(url.password, from)
  return {
    host,
    port: Number(url.port || 5432),
    user: decoded(url.username, from) || userInfo().username,
    ...(password !== '' && { password }),
    database,
    ssl: readTls(host, parameters, from),
    name: typed,
  }
}
