import type { Env } from '../../core/env.ts'
import type { Log } from '../../core/log.ts'
import type { Channel } from '../call/message.ts'
import type { Settings } from '../config/settings.ts'
import type { Adapter } from './adapter.ts'
import { createMail } from './mail.ts'
import { createSms } from './sms.ts'

/** For development: writes the whole message to the log, codes too, and sends nothing. */
const createDevLog =
  (log: Log, now: () => string): Adapter =>
  async ({ channel, kind, to, subject, text }) => {
    const about = subject === undefined ? '' : ` "${subject}"`
    log({ at: now(), level: 'info', message: `${channel} (${kind}) to ${to}${about}: ${text}` })
    return { state: 'sent', provider_id: 'log' }
  }

type Options = {
  settings: Pick<Settings, 'smtp' | 'sms'>
  push: Adapter
  webhook: Adapter
  dev: boolean
  env: Env
  log: Log
  now(): string
}

/** A message that was accepted earlier waits until its channel is configured again. */
const absent: Adapter = async ({ channel }) => ({
  state: 'retry',
  error: `${channel} is no longer configured`,
})

/**
 * An adapter for each channel, the channels that accept messages, and those that only log them: with --dev, the log replaces
 * what is not set up.
 */
export const createAdapters = ({ settings, push, webhook, dev, env, log, now }: Options) => {
  let mail = settings.smtp && createMail(settings.smtp)
  let sms = settings.sms && createSms(settings.sms, { env, now })
  const devLog = createDevLog(log, now)
  const other = dev ? devLog : absent
  const adapters = {
    email: mail ? (...given) => mail!.adapter(...given) : other,
    sms: sms ? (...given) => sms!.adapter(...given) : other,
    push,
    webhook,
  } satisfies Record<Channel, Adapter>
  const all = Object.keys(adapters) as Channel[]
  return {
    adapters,
    channels: new Set(all.filter((channel) => adapters[channel] !== absent)),
    loggedChannels: new Set(all.filter((channel) => adapters[channel] === devLog)),
    /** Sends with these settings from now on; a channel keeps those that are left out. */
    use: (renewed: Options['settings']): void => {
      const replaced = [renewed.smtp && mail, renewed.sms && sms]
      if (renewed.smtp) mail = createMail(renewed.smtp)
      if (renewed.sms) sms = createSms(renewed.sms, { env, now })
      const close = (): void => replaced.forEach((one) => void one?.close())
      // By then, every attempt under way has ended.
      setTimeout(close, 60_000).unref()
    },
    close: async (): Promise<void> => {
      await Promise.all([mail?.close(), sms?.close()])
    },
  }
}
