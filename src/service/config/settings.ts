import { readAskingDefaults, type AskingDefaults, type NamedSetting } from '../../contract/asking-defaults.ts'
import type { Env, EnvName } from '../../core/env.ts'
import { email } from '../../contract/records.ts'
import { readConfigFile } from './config-file.ts'
import { quotesSettings, type QuotesSettings } from './quotes-settings.ts'
import { periodsOf, type Periods } from './retention.ts'
import { badConfig } from './private-text.ts'
import type { Config } from './schema.ts'
import { smsSettings, type SmsSettings } from './sms-settings.ts'
import { smtpSettings, type SmtpSettings } from './smtp-settings.ts'

/** What the flags of `svc serve` say; none of it is a secret. */
export type ConfigFlags = {
  /** A file in YAML. */
  config?: string
  smtpUrl?: string
  mailFrom?: string
  smsUrl?: string
}

export type Settings = {
  smtp?: SmtpSettings
  sms?: SmsSettings
  supportEmail?: string
  quotes?: QuotesSettings
  periods: Periods
  /** For tool calls over HTTP. */
  asking: AskingDefaults
}

const supportEmail = (config: Config, env: Env): string | undefined => {
  const given = env.SVC_SUPPORT_EMAIL || config.support?.email
  if (given === undefined || email.safeParse(given).success) return given
  throw badConfig('SVC_SUPPORT_EMAIL is no e-mail address', 'SVC_SUPPORT_EMAIL=support@example.com')
}

const variable = (env: Env, name: EnvName): NamedSetting | undefined => {
  const value = env[name]
  return value ? { value, name } : undefined
}

/** Flag, then environment, then file. Fails with an SvcError that names the field and what to type. */
export const readSettings = (flags: ConfigFlags, env: Env): Settings => {
  const config = flags.config === undefined ? {} : readConfigFile(flags.config)
  return {
    smtp: smtpSettings({ url: flags.smtpUrl, from: flags.mailFrom }, config.smtp ?? {}, env),
    sms: smsSettings({ url: flags.smsUrl }, config.sms ?? {}, env),
    supportEmail: supportEmail(config, env),
    quotes: quotesSettings(config.quotes, env),
    periods: periodsOf(config.retention),
    asking: readAskingDefaults({
      mobile: variable(env, 'SVC_DEFAULT_MOBILE'),
      factors: variable(env, 'SVC_DEFAULT_FACTORS'),
      label: variable(env, 'SVC_REQUEST_FROM'),
    }),
  }
}
