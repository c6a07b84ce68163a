import { LineCounter, parseDocument } from 'yaml'
import { type AskingDefaults, type NamedSetting, readAskingDefaults } from '../../contract/asking-defaults.ts'
import { issuesOf } from '../../contract/issues.ts'
import { email } from '../../contract/records.ts'
import type { Env, EnvName } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { badConfig, openText } from './private-text.ts'
import { quotesSettings, type QuotesSettings } from './quotes-settings.ts'
import { type Periods, periodsOf } from './retention.ts'
import { type Config, configSchema } from './schema.ts'
import { smsSettings, type SmsSettings } from './sms-settings.ts'
import { smtpSettings, type SmtpSettings } from './smtp-settings.ts'

const sample = 'Compare it with: svc help configuration'

/** Headers that never contain a secret. */
const publicHeaders = /^(?:accept|content-type|user-agent)$/i

const containsSecret = ({ smtp, sms }: Config): boolean =>
  (smtp?.url !== undefined && URL.canParse(smtp.url) && new URL(smtp.url).password !== '') ||
  Object.entries(sms?.headers ?? {}).some(
    ([name, value]) => !publicHeaders.test(name) && !value.includes('{secret}'),
  )

/** Errors of the parser quote the text, which can contain a secret, so only their position is reported. */
const parse = (text: string, file: string): unknown => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (!error)
    try {
      return document.toJS() ?? {}
    } catch {
      throw badConfig(`${file} contains too many aliases`, sample)
    }
  const { line, col } = lines.linePos(error.pos[0])
  throw new SvcError('usage', 'bad_config', `${file} is not valid YAML: line ${line}, column ${col}`, {
    detail: error.code.toLowerCase().replaceAll('_', ' '),
    hint: sample,
  })
}

/**
 * The file of `--config`. Throws an SvcError that names each invalid field, or if the file contains a secret and other users
 * can read it.
 */
export const readConfigFile = (file: string): Config => {
  const { text, requirePrivate } = openText(file, 'The configuration')
  const parsed = parse(text, file)
  const checked = configSchema.safeParse(parsed)
  if (!checked.success) {
    const issues = issuesOf(checked.error, configSchema, parsed)
    const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
    throw new SvcError('usage', 'bad_config', `${file}: ${issues[0]!.field} ${issues[0]!.message}${more}`, {
      issues,
      hint: sample,
    })
  }
  if (containsSecret(checked.data)) requirePrivate()
  return checked.data
}

export type Settings = {
  smtp?: SmtpSettings | undefined
  sms?: SmsSettings | undefined
  supportEmail?: string | undefined
  quotes?: QuotesSettings | undefined
  periods: Periods
  /** Defaults of tool calls over HTTP. */
  asking: AskingDefaults
}

const readSupportEmail = (config: Config, env: Env): string | undefined => {
  const address = env.SVC_SUPPORT_EMAIL || config.support?.email
  if (address === undefined || email.safeParse(address).success) return address
  throw badConfig('SVC_SUPPORT_EMAIL is not a valid e-mail address', 'SVC_SUPPORT_EMAIL=support@example.com')
}

const variable = (env: Env, name: EnvName): NamedSetting | undefined => {
  const value = env[name]
  return value ? { value, name } : undefined
}

/** The environment wins over the file, which is YAML. Throws an SvcError that names the field. */
export const readSettings = (file: string | undefined, env: Env): Settings => {
  const config = file === undefined ? {} : readConfigFile(file)
  return {
    smtp: smtpSettings(config.smtp ?? {}, env),
    sms: smsSettings(config.sms ?? {}, env),
    supportEmail: readSupportEmail(config, env),
    quotes: quotesSettings(config.quotes),
    periods: periodsOf(config.retention),
    asking: readAskingDefaults({
      mobile: variable(env, 'SVC_DEFAULT_MOBILE'),
      factors: variable(env, 'SVC_DEFAULT_FACTORS'),
      label: variable(env, 'SVC_REQUEST_FROM'),
    }),
  }
}
