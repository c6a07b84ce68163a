import { once } from 'node:events'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { defineCommand } from '../program/define-command.ts'
import { build, version } from '../program/version.ts'
import type { Flags } from '../program/command-node.ts'
import { many, readWhole } from '../operation/flags.ts'
import { openLogFile } from './log-file.ts'
import type { Io } from '../terminal/io.ts'

/** The folder from --data-dir, or the default. */
export const dataDir = (io: Io, typed?: string): string =>
  typed === undefined
    ? join(io.env.XDG_DATA_HOME || join(io.env.HOME || homedir(), '.local', 'share'), 'svc')
    : resolve(io.cwd, typed)

type Place = import('../../service/lifecycle/place.ts').StorePlace
type PlaceFlags = import('../../service/lifecycle/place.ts').PlaceFlags

/** The flags that say where the store is. */
export const placeFlags: Flags = {
  '--data-dir <dir>': 'Folder of the data; default: ~/.local/share/svc',
  '--database-url-file <file>':
    'Store in PostgreSQL: file with postgres://user:password@host/database; or SVC_DATABASE_URL',
}

/** Where the store is, from `placeFlags` and the environment. */
export const placeOf = async (io: Io, typed: PlaceFlags): Promise<Place> => {
  const { choosePlace } = await import('../../service/lifecycle/place.ts')
  const absolute = (path?: string): string | undefined => path && resolve(io.cwd, path)
  const flags = { dataDir: absolute(typed.dataDir), databaseUrlFile: absolute(typed.databaseUrlFile) }
  return choosePlace(flags, io.env, dataDir(io))
}

type Options = {
  port: string
  host: string
  dataDir?: string
  databaseUrlFile?: string
  databaseConnections?: string
  allowDataLoss?: boolean
  drain?: string
  metricsPort?: string
  metricsHost?: string
  publicUrl?: string
  tlsCert?: string
  tlsKey?: string
  trustedProxy?: string[]
  webhookNetwork?: string[]
  config?: string
  logFile?: string
  check?: boolean
  dev?: boolean
  profile: boolean
}

/** The place of the store, with the flags that only a database has. */
const readPlace = async (
  io: Io,
  { databaseConnections, allowDataLoss, ...flags }: Options,
): Promise<Place> => {
  const place = await placeOf(io, flags)
  const connections =
    databaseConnections === undefined
      ? undefined
      : readWhole('--database-connections', databaseConnections, 2, 9999)
  if (place.databaseUrl !== undefined) return { ...place, connections, allowDataLoss }
  if (connections !== undefined || allowDataLoss)
    throw usageError(
      `${allowDataLoss ? '--allow-data-loss' : '--database-connections'} requires a database`,
      'Set SVC_DATABASE_URL or --database-url-file, or remove the flag',
    )
  return place
}

/** `svc serve`: runs the service in this process until SIGINT or SIGTERM. */
export const registerServe = defineCommand<Options>({
  options: {
    '--port <port>': { about: 'Port; 0 for a free one', value: '8080' },
    '--host <address>': { about: 'Address to listen on', value: '127.0.0.1' },
    ...placeFlags,
    '--database-connections <number>': 'Connections to the database; default: 10',
    '--allow-data-loss': 'Use a database that can lose acknowledged writes in a crash or failover',
    '--drain <seconds>':
      'How long to report that it stops before it does, for a load balancer; default: 5 with a database, 0 without',
    '--metrics-port <port>': 'Serve Prometheus metrics at /metrics on this port; 0 for a free one',
    '--metrics-host <address>': 'Address of that port, 127.0.0.1 by default; others require SVC_METRICS_KEY',
    '--public-url <url>': 'Address that phones and clients use, if it is a different one',
    '--tls-cert <file>': 'Certificate chain (PEM)',
    '--tls-key <file>': 'Private key of the certificate (PEM)',
    '--trusted-proxy <address>': many(
      'Address or network of a proxy whose X-Forwarded-* headers are trusted',
    ),
    '--webhook-network <network>': many('Private network that webhooks may reach, such as 10.20.0.0/16'),
    '--config <file>': 'Configuration file for e-mail, text messages and more (YAML): svc help configuration',
    '--log-file <file>': 'Write the log to this file instead of standard error; SIGHUP opens it again',
    '--check': 'Check flags, configuration and store, then exit; a running service is not disturbed',
    '--dev': 'Development mode, on loopback only',
    '--no-profile': 'Do not save the key in a profile, only print it',
  },
  examples: ['svc serve --port 8080'],
  prints: ['json'],
  action: async ({ options }, context) => {
    const { io, globals } = context
    const { startService } = await import('../../service/lifecycle/serve.ts')
    const { checkService } = await import('../../service/lifecycle/check-service.ts')
    const { createLog } = await import('../../core/log.ts')
    const { dataDir: _, databaseUrlFile: __, databaseConnections: ___, ...rest } = options
    const { port, profile, drain, metricsPort, logFile, check, ...settings } = rest
    const place = await readPlace(io, options)
    const stderr = (text: string) => io.stderr.write(text)
    const file = logFile === undefined || check ? undefined : openLogFile(resolve(io.cwd, logFile), stderr)
    const write = file?.write ?? stderr
    const served = {
      ...settings,
      port: readWhole('--port', port, 0, 65_535),
      ...(metricsPort !== undefined && {
        metricsPort: readWhole('--metrics-port', metricsPort, 0, 65_535),
      }),
      ...(drain !== undefined && { drainMs: readWhole('--drain', drain, 0, 600) * 1000 }),
      version,
      build,
      ...place,
      env: io.env,
      log: createLog((text) => write(`${text}\n`), !file && io.stderr.isTTY),
    }
    if (check) {
      await checkService(served)
      const text = 'The service can start with these flags'
      return io.stdout.write(`${globals.output === 'json' ? JSON.stringify({ event: 'checked' }) : text}\n`)
    }
    let running: Service | undefined
    // A terminal that is closed ends what was started there; a service manager reloads with the same signal.
    if (!io.stderr.isTTY)
      io.onHangup = () => {
        file?.reopen()
        running?.reload()
      }
    const service = await startService(served)
    running = service
    try {
      const local = profile && place.dataDir !== undefined
      const note = local
        ? await saveProfile({ ...service, dataDir: place.dataDir }, context)
        : profile
          ? unsaved(service)
          : undefined
      const saved = local && note === undefined
      if (service.operatorKey !== undefined && !saved) markUnsaved(service.operatorKey, service, context)
      if (globals.output === 'json') announceJson(service, context, saved)
      else announce(service, context, { note, saved })
      if (!io.signal.aborted) await once(io.signal, 'abort')
    } finally {
      await service.stop()
    }
  },
})

type Service = Awaited<ReturnType<typeof import('../../service/lifecycle/serve.ts').startService>>

/** What to type after the first start without a data folder, whose nodes can be on several machines. */
const unsaved = ({ operatorKey, baseUrl }: Service): string | undefined =>
  operatorKey &&
  `No profile has this key: svc profile create <name> --base-url ${shellQuote(baseUrl)} --with-key`

/** Returns a note if the profile was not changed. */
const saveProfile = async (
  service: Omit<Service, keyof Place> & { dataDir: string },
  { io }: Context,
): Promise<string | undefined> => {
  const { saveLocalProfile } = await import('../profile/local-profile.ts')
  try {
    return await saveLocalProfile({ io }, { ...service, key: service.operatorKey })
  } catch (error) {
    // The new key exists and must be shown, even if it cannot be saved.
    const { message, hint } = error as Error & { hint?: string }
    return [`The profile local was not saved: ${message}`, hint].filter(Boolean).join('\nhint: ')
  }
}

/** Marks a key that exists only in the output: if printing it fails, svc must say so. */
const markUnsaved = (key: string, { dataDir }: Service, context: Context): void => {
  context.changed = true
  context.once = `Operator key, shown once: ${key}\n`
  context.lostHint =
    dataDir === undefined
      ? 'The operator key is lost. Create a new one: svc service reset-operator-key'
      : `The operator key is lost. Create a new one: svc service reset-operator-key --data-dir ${shellQuote(dataDir)}`
}

const announceJson = (service: Service, { io }: Context, saved: boolean): void => {
  const event = {
    event: 'ready',
    base_url: service.baseUrl,
    mcp_url: service.mcpUrl,
    health_url: service.healthUrl,
    approver_url: service.approverUrl,
    ...(service.metricsUrl !== undefined && { metrics_url: service.metricsUrl }),
    ...(service.dataDir === undefined ? { database: service.place } : { data_dir: service.dataDir }),
  }
  if (service.operatorKey && !saved)
    io.stdout.write(`${JSON.stringify({ event: 'operator_key', key: service.operatorKey })}\n`)
  io.stdout.write(`${JSON.stringify(event)}\n`)
}

const announce = (
  service: Service,
  { io }: Context,
  { note, saved }: { note: string | undefined; saved: boolean },
): void => {
  const where = saved ? 'saved in the profile local' : 'shown once'
  if (service.operatorKey) io.stdout.write(`Operator key, ${where}: ${service.operatorKey}\n`)
  if (note) io.stdout.write(`${note}\n`)
  if (service.metricsUrl) io.stdout.write(`Metrics are at ${service.metricsUrl}\n`)
  io.stdout.write(`svc is ready at ${service.baseUrl} (data in ${service.place})\n`)
}
