import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Env } from '../../../src/core/env.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { periodsOf } from '../../../src/service/config/retention.ts'
import { readSettings } from '../../../src/service/config/settings.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = temporaryFolder())
})
afterEach(() => remove())

const write = (text: string, mode = 0o600, name = 'svc.yaml'): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}
const settings = (text: string, env: Env = {}, mode = 0o600) => readSettings(write(text, mode), env)

/** What went wrong, as a person reads it. */
const wrong = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'bad_config') throw error
    const { message, detail, hint, issues = [] } = error
    expect(error.exit).toBe('usage')
    expect(hint).toBeTruthy()
    return [message, detail, hint, ...issues.map((one) => `${one.field} ${one.message}`)].join('\n')
  }
  throw new Error('it was taken')
}

const smtp = 'smtp:\n  url: smtps://ada@mail.example.com\n  from: Acme <no-reply@acme.example>\n'
const sms = 'sms:\n  url: https://sms.example.com/m\n'

// Nine lines that would be a thousand million texts.
const laughs = Array.from(
  { length: 9 },
  (_, n) =>
    `a${n}: &a${n} [${Array(10)
      .fill(n === 0 ? 'x' : `*a${n - 1}`)
      .join(', ')}]`,
).join('\n')

test('the sample is valid as soon as its secrets are set', () => {
  const sample = readFileSync(new URL('../../../docs/svc.sample.yaml', import.meta.url), 'utf8')
  const text = sample.replaceAll('/run/secrets', folder)
  write('from-a-file\n', 0o600, 'smtp-password')
  write('token', 0o600, 'sms-token')
  write('q', 0o600, 'quotes-token')
  const { smtp, sms, supportEmail, quotes } = settings(text)
  expect(smtp).toEqual({
    host: 'mail.example.com',
    port: 465,
    secure: true,
    plain: false,
    user: 'acme',
    password: 'from-a-file',
    from: { name: 'Acme', address: 'no-reply@example.com' },
  })
  expect(sms).toMatchObject({
    headers: { authorization: 'Bearer {secret}' },
    secret: 'token',
  })
  expect(supportEmail).toBe('support@example.com')
  expect(quotes).toBeDefined()
})

test('an empty file configures nothing', () => {
  for (const text of ['', '# nothing\n', '{}', 'smtp: {}\nsms: {}\n'])
    expect(settings(text)).toEqual({
      smtp: undefined,
      sms: undefined,
      supportEmail: undefined,
      quotes: undefined,
      asking: {},
      periods: periodsOf(),
    })
})

describe('a mail server', () => {
  test.each([
    ['smtps://mail.example.com', { port: 465, secure: true, plain: false }],
    ['smtp://mail.example.com', { port: 587, secure: false, plain: false }],
    ['smtp://mail.example.com:25/', { port: 25, secure: false, plain: false }],
    ['smtp://127.0.0.1:2525', { port: 2525, plain: true }],
    ['smtp://[::1]:2525', { host: '::1', plain: true }],
    ['smtp://localhost:2525', { plain: true }],
    ['smtps://localhost', { plain: false, secure: true }],
  ])('at %s is spoken to over TLS, except on this machine', (url, expected) => {
    expect(
      readSettings(undefined, { SVC_SMTP_URL: url, SVC_SMTP_FROM: 'a@acme.example' }).smtp,
    ).toMatchObject(expected)
  })

  test('without TLS on another host is used only if the file allows it', () => {
    const text = 'smtp: {url: "smtp://mail.example.com", from: a@acme.example, plain: true}'
    expect(settings(text).smtp).toMatchObject({ plain: true })
  })

  test('is the one of the environment, then of the file', () => {
    const env = { SVC_SMTP_URL: 'smtps://env.example.com', SVC_SMTP_FROM: 'env@acme.example' }
    const password = `${smtp}  password_file: ${write('x', 0o600, 'password')}\n`
    expect(settings(password, {}).smtp).toMatchObject({
      host: 'mail.example.com',
      user: 'ada',
      password: 'x',
    })
    const fromEnv = settings(password, env).smtp
    expect(fromEnv).toMatchObject({ host: 'env.example.com', from: { address: 'env@acme.example' } })
    // The password of one server is not sent to another.
    expect(fromEnv).not.toHaveProperty('password')
  })

  test('has its password from a variable', () => {
    expect(settings(smtp, { SVC_SMTP_PASSWORD: 's3cret' }).smtp).toMatchObject({ password: 's3cret' })
  })

  test('takes name and password from its URL, with any characters', () => {
    const SVC_SMTP_URL = 'smtps://ada%40acme.example:p%2Fw%25@mail.example.com'
    expect(readSettings(undefined, { SVC_SMTP_URL, SVC_SMTP_FROM: 'a@acme.example' }).smtp).toMatchObject({
      user: 'ada@acme.example',
      password: 'p/w%',
    })
  })
})

describe('a provider of text messages', () => {
  test('gets the three values and a bearer by default', () => {
    expect(readSettings(undefined, { SVC_SMS_URL: 'https://x.example/m', SVC_SMS_SECRET: 't' }).sms).toEqual({
      url: 'https://x.example/m',
      headers: { authorization: 'Bearer {secret}' },
      body: { to: '{to}', text: '{text}', id: '{id}' },
      secret: 't',
    })
    expect(readSettings(undefined, { SVC_SMS_URL: 'http://127.0.0.1:9/m' }).sms).toMatchObject({
      headers: {},
    })
  })
})

describe('rejects a configuration, with the field and what to type,', () => {
  test.each([
    ['smpt: {}', 'smpt is not a known field; did you mean smtp?'],
    ['smtp: {url: 7}', 'smtp.url must be text'],
    ['smtp: {port: 25}', 'smtp.port is not a known field'],
    ['- a', 'input must be an object'],
    ['smtp: {from: a@acme.example}', 'smtp.url is missing'],
    ['smtp: {url: "smtps://mail.example.com"}', 'smtp.from is missing'],
    [
      'smtp: {url: "https://mail.example.com", from: a@acme.example}',
      'smtp.url is not a valid URL of a mail server',
    ],
    ['smtp: {url: "smtps://mail.example.com/?x=1", from: a@acme.example}', 'smtp.url is not a valid URL'],
    ['smtp: {url: "smtps://mail.example.com", from: acme}', 'smtp.from is not a valid e-mail address'],
    [
      'smtp: {url: "smtps://m.example.com", from: "A <a@b.example>, B <b@b.example>"}',
      'smtp.from is not a valid e-mail address',
    ],
    [
      'smtp: {url: "smtps://m.example.com", from: "a@b.example,c@d.example"}',
      'smtp.from is not a valid e-mail address',
    ],
    [smtp, 'smtp.url names a user but has no password'],
    [`${smtp}  password_file: /nowhere/x`, 'smtp.password_file /nowhere/x cannot be read'],
    [`${smtp}  password: x`, 'smtp.password is not a known field'],
    ['sms: {secret_file: x}', 'sms.url is missing'],
    ['sms: {url: "http://sms.example.com"}', 'sms.url must be https'],
    ['sms: {url: "https://a:b@sms.example.com"}', 'sms.url must not contain a name or a password'],
    [`${sms}  body: {to: "{to}"}`, 'sms.body must contain {text}'],
    [`${sms}  body: {to: "{to}", text: "{txet}"}`, 'sms.body contains {txet}, which is not a placeholder'],
    [`${sms}  headers: {authorization: "Bearer {secret}"}`, 'sms uses {secret}, but no secret is set'],
    [`${sms}  headers: {Content-Length: "1"}`, 'sms.headers.Content-Length is a header that svc sets itself'],
    [`${sms}  id: messages.0`, 'sms.id is not a known field'],
    ['support: {email: acme}', 'support.email must be an e-mail address'],
    ['smtp: {a: 1\nsms: "', 'is not valid YAML: line '],
    ['a: &a [*a, *a]', 'a is not a known field'],
    [laughs, 'contains too many aliases'],
  ])('%j', (text, expected) => {
    expect(wrong(() => settings(text))).toContain(expected)
  })

  test('when it is not there, or too large', () => {
    expect(wrong(() => readSettings(join(folder, 'none'), {}))).toContain('cannot be read')
    expect(wrong(() => readSettings(folder, {}))).toContain('is not a text file')
    expect(wrong(() => settings(`# ${'x'.repeat(1_100_000)}`))).toContain('is not a text file')
  })

  test.each([
    ['a password in an address', 'smtp: {url: "smtps://a:s3cret-canary@m.example.com", from: a@b.example}'],
    ['a header', `${sms}  headers: {x-api-key: s3cret-canary}`],
  ])('when it contains %s and other users can read it', (_, text) => {
    expect(settings(text)).toBeDefined()
    for (const mode of [0o640, 0o604]) {
      const said = wrong(() => settings(text, {}, mode))
      expect(said).toContain('other users can read it')
      expect(said).toContain("chmod 600 '")
      expect(said).not.toContain('s3cret-canary')
    }
  })

  test('but not when other users can read one without a secret', () => {
    expect(settings(`${sms}  headers: {content-type: application/json}`, {}, 0o644).sms).toBeDefined()
  })

  test('when the file of a secret is open to others', () => {
    const file = write('s3cret-canary', 0o644, 'password')
    const said = wrong(() => settings(`${smtp}  password_file: ${file}`))
    expect(said).toContain('other users can read it')
    expect(said).not.toContain('s3cret-canary')
  })

  test('when it cannot be parsed, without a piece of it', () => {
    expect(wrong(() => settings('smtp: {password: "s3cret-canary'))).not.toContain('s3cret-canary')
    expect(wrong(() => settings('smtp: [password, s3cret-canary]'))).not.toContain('s3cret-canary')
  })
})
