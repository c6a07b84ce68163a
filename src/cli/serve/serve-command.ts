import { once } from 'node:events'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { collect } from '../operation/flags.ts'
import type { Io } from '../terminal/io.ts'

/** The folder from --data-dir, or the default. */
export const dataDir = (io: Io, typed?: string): string =>
  typed === undefined
    ? join(io.env.XDG_DATA_HOME || join(io.env.HOME || homedir(), '.local', 'share'), 'svc')
    : resolve(io.cwd, typed)

type Place = import('../../service/lifecycle/place.ts').Place

/** The place of the store: a folder if --data-dir is typed, otherwise the database of SVC_DATABASE_URL, if it is set. */
export const placeOf = (io: Io, typed?: string): Place =>
  typed === undefined && io.env.SVC_DATABASE_URL
    ? { databaseUrl: io.env.SVC_DATABASE_URL }
    : { dataDir: dataDir(io, typed) }

type Options = {
  port: string
  host: string
  dataDir?: string
  publicUrl?: string
  tlsCert?: string
  tlsKey?: string
  trustedProxy?: string[]
  config?: string
  smtpUrl?: string
  mailFrom?: string
  smsUrl?: string
  dev?: boolean
  profile: boolean
}

const readPort = (text: string): number => {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw usageError(`--port must be 0 to 65535, not "${text}"`)
  return port
}

/** `svc serve`: runs the service in this process until SIGINT or SIGTERM. */
export const registerServe = (command: Command, context: Context): void => {
  command
    .usage('[flags]')
    .option('--port <port>', 'Port; 0 for a free one', '8080')
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .option('--data-dir <dir>', 'Folder of the data; default: ~/.local/share/svc')
    .option('--public-url <url>', 'Address that phones and clients use, if it is a different one')
    .option('--tls-cert <file>', 'Certificate chain (PEM)')
    .option('--tls-key <file>', 'Private key of the certificate (PEM)')
    .option(
      '--trusted-proxy <address>',
      'Address or network of a proxy whose X-Forwarded-* headers are trusted; repeat it for each proxy',
      collect,
    )
    .option(
      '--config <file>',
      'Configuration file for e-mail, text messages and more (YAML): svc help configuration',
    )
    .option('--smtp-url <url>', 'Mail server: smtps://user@mail.example.com; password in SVC_SMTP_PASSWORD')
    .option('--mail-from <address>', 'Sender of e-mail: Acme <no-reply@example.com>')
    .option('--sms-url <url>', 'Address for sending text messages; secret in SVC_SMS_SECRET')
    .option('--dev', 'Development mode, on loopback only')
    .option('--no-profile', 'Do not save the key in a profile, only print it')
    .addHelpText('after', '\nExample:\n  svc serve --port 8080')
    .action(async () => {
      const options = command.opts<Options>()
      const { io, globals } = context
      const [{ startService }, { createLog }] = await Promise.all([
        import('../../service/lifecycle/serve.ts'),
        import('../../core/log.ts'),
      ])
      const { port, dataDir: folder, profile, ...settings } = options
      const place = placeOf(io, folder)
      const service = await startService({
        ...settings,
        port: readPort(port),
        ...place,
        env: io.env,
        log: createLog((text) => io.stderr.write(`${text}\n`), io.stderr.isTTY),
      })
      try {
        const local = profile && place.dataDir !== undefined
        const note = local ? await saveProfile({ ...service, dataDir: place.dataDir }, context) : undefined
        const saved = local && note === undefined
        if (service.operatorKey !== undefined && !saved) markUnsaved(service.operatorKey, service, context)
        if (globals.output === 'json') announceJson(service, context, saved)
        else announce(service, context, note)
        if (!io.signal.aborted) await once(io.signal, 'abort')
      } finally {
        await service.stop()
      }
    })
}

type Service = Awaited<ReturnType<typeof import('../../service/lifecycle/serve.ts').startService>>

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
  context.lostHint = `The operator key is lost. Create a new one: svc service reset-operator-key${dataDir === undefined ? '' : ` --data-dir ${shellQuote(dataDir)}`}`
}

const announceJson = (service: Service, { io }: Context, saved: boolean): void => {
  const event = {
    event: 'ready',
    base_url: service.baseUrl,
    mcp_url: service.mcpUrl,
    health_url: service.healthUrl,
    approver_url: service.approverUrl,
    ...(service.dataDir === undefined ? { database: service.place } : { data_dir: service.dataDir }),
  }
  if (service.operatorKey && !saved)
    io.stdout.write(`${JSON.stringify({ event: 'operator_key', key: service.operatorKey })}\n`)
  io.stdout.write(`${JSON.stringify(event)}\n`)
}

const announce = (service: Service, { io }: Context, note: string | undefined): void => {
  if (service.operatorKey) io.stdout.write(`Operator key, shown once: ${service.operatorKey}\n`)
  if (note) io.stdout.write(`${note}\n`)
  io.stdout.write(`svc is ready at ${service.baseUrl} (data in ${service.place})\n`)
}
