import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../call/service.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import type { HttpServer } from '../http/server.ts'
import { readTls, type ServeOptions, warnOfExpiry } from './serve-options.ts'

type Parts = {
  settings: Settings
  service: Service
  useChannels(settings: Pick<Settings, 'smtp' | 'sms'>): void
  useTls: HttpServer['useTls']
  report(message: string, level?: 'warn'): void
}

/** The sections of the file of `--config`. */
const sections = {
  smtp: 'smtp',
  sms: 'sms',
  supportEmail: 'support',
  periods: 'retention',
  quotes: 'quotes',
} as const
type Section = keyof typeof sections

/** Reads certificate and configuration again. A file that cannot be used changes nothing, and is logged. */
export const createReload = (options: ServeOptions, parts: Parts): (() => void) => {
  const { service, report } = parts
  let current = parts.settings

  const configuration = (): void => {
    const renewed = readSettings(options.config, options.env)
    const changed = (Object.keys(sections) as Section[]).filter(
      (name) => !isDeepStrictEqual(renewed[name], current[name]),
    )
    // What a phone needs for its proof depends on which channels there are.
    const needsStart = (name: Section): boolean =>
      name === 'quotes' || ((name === 'smtp' || name === 'sms') && (!renewed[name] || !current[name]))
    const later = changed.filter(needsStart)
    const now = changed.filter((name) => !needsStart(name))
    current = { ...current, ...Object.fromEntries(now.map((name) => [name, renewed[name]])) }
    Object.assign(service.periods, current.periods)
    service.supportEmail = current.supportEmail
    parts.useChannels({
      smtp: now.includes('smtp') ? current.smtp : undefined,
      sms: now.includes('sms') ? current.sms : undefined,
    })
    const listed = (names: Section[]): string => names.map((name) => sections[name]).join(', ')
    report(`Reloaded the configuration; changed: ${listed(now) || 'nothing'}`)
    if (later.length > 0)
      report(`Changed in the configuration, but only a restart uses it: ${listed(later)}`, 'warn')
  }
  const certificate = (): void => {
    const tls = readTls(options)!
    parts.useTls(tls)
    report('Reloaded the certificate')
    warnOfExpiry(tls, report)
  }

  const attempt = (what: string, work: () => void): void => {
    try {
      work()
    } catch (error) {
      report(`The ${what} was not reloaded: ${(error as Error).message}`, 'warn')
    }
  }
  return () => {
    if (options.tlsCert !== undefined) attempt('certificate', certificate)
    if (options.config !== undefined) attempt('configuration', configuration)
    if (options.tlsCert === undefined && options.config === undefined)
      report('SIGHUP reads no file again without --tls-cert and --config')
  }
}
