import { afterEach, describe, expect, test } from 'vitest'
import type { SmtpSettings } from '../../../src/service/config/smtp-settings.ts'
import { createMail } from '../../../src/service/delivery/mail.ts'
import type { Message } from '../../../src/service/call/message.ts'
import { selfSigned } from '../../certificate.ts'
import { startMailServer, type MailServer } from './mail-server.ts'

const message: Message = {
  org_id: 1,
  channel: 'email',
  kind: 'notice',
  to: 'ada@example.com',
  subject: 'Maintenance',
  text: 'Tonight.\n.\nAt 22:00 — bis später.',
}
const id = 'msg_AAAAAAAAAAAAAAAAAAAAAAAA'
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const serve = async (options = {}): Promise<MailServer> => {
  const server = await startMailServer(options)
  closing.push(server.close)
  return server
}
const sender = (port: number, more: Partial<SmtpSettings> = {}) => {
  const from = { name: 'Acme, Inc.', address: 'no-reply@acme.example' }
  const mail = createMail({ host: '127.0.0.1', port, secure: false, plain: true, from, ...more })
  closing.push(mail.close)
  return (changes: Partial<Message> = {}, signal = new AbortController().signal) =>
    mail.adapter({ ...message, ...changes }, { id, attempt: 1, signal })
}
const headersOf = ({ mails: [mail] }: MailServer): string => mail!.raw.slice(0, mail!.raw.indexOf('\r\n\r\n'))

describe('an e-mail', () => {
  test('arrives complete, has the same Message-ID when repeated, and stores the id of the server', async () => {
    const server = await serve()
    expect(await sender(server.port)()).toEqual({ state: 'sent', provider_id: 'Q1' })
    expect(server.mails).toMatchObject([{ from: 'no-reply@acme.example', to: ['ada@example.com'] }])
    const headers = headersOf(server)
    expect(headers).toContain(`Message-ID: <${id}@acme.example>`)
    expect(headers).toContain('From: "Acme, Inc." <no-reply@acme.example>')
    expect(headers).toContain('To: ada@example.com')
    expect(headers).toContain('Subject: Maintenance')
    expect(headers).toContain('Auto-Submitted: auto-generated')
    const text = Buffer.from(
      server.mails[0]!.raw.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
      'latin1',
    ).toString('utf8')
    expect(text).toContain('Tonight.\r\n.\r\nAt 22:00 — bis später.')
  })

  test.each([
    ['a line in the subject', { subject: 'Hi\r\nBcc: eve@example.com\r\n\r\nGet rich' }],
    ['a line separator in the subject', { subject: 'Hi\u2028Bcc: eve@example.com\u0085X: y' }],
  ])('with %s adds no header and no recipient', async (_, changes) => {
    const server = await serve()
    expect(await sender(server.port)(changes)).toMatchObject({ state: 'sent' })
    expect(server.mails[0]!.to).toEqual(['ada@example.com'])
    expect(headersOf(server)).not.toMatch(/^(?:Bcc|X):/im)
  })

  test.each([
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com,eve@example.com',
    'Ada <ada@example.com>',
    'ada@example.com>\r\nDATA',
    'group: ada@example.com;',
  ])('with the recipient or reply address %j is refused before anything is sent', async (address) => {
    const server = await serve()
    expect(await sender(server.port)({ to: address })).toMatchObject({ state: 'failed' })
    expect(await sender(server.port)({ reply_to: address })).toMatchObject({ state: 'failed' })
    expect(server.mails).toEqual([])
  })

  test.each([
    ['the recipient permanently', { at: 'rcpt', code: 550 }, 'failed', 550],
    ['the text permanently', { at: 'data', code: 554 }, 'failed', 554],
    ['the recipient temporarily', { at: 'rcpt', code: 451 }, 'retry', 451],
    ['the text temporarily', { at: 'data', code: 452 }, 'retry', 452],
  ] as const)('reports that the server refuses %s, without the recipient', async (_, fault, state, code) => {
    const server = await serve()
    server.behavior.fault = fault
    const outcome = await sender(server.port)()
    expect(outcome).toEqual({ state, error: expect.stringContaining(`status ${code}`) })
    expect(JSON.stringify(outcome)).not.toContain('ada')
  })

  test('that is cut off can be retried, and the library does not retry it', async () => {
    const server = await serve()
    server.behavior.mode = 'cut'
    expect(await sender(server.port)()).toMatchObject({ state: 'retry' })
    expect(server.mails).toEqual([])
  })

  test('that the server delays ends with its signal', async () => {
    const server = await serve()
    server.behavior.mode = 'stall'
    const giving = new AbortController()
    const sending = sender(server.port)({}, giving.signal)
    await server.stalled
    giving.abort()
    expect(await sending).toMatchObject({ state: 'retry' })
  })

  test('to an unreachable server can be retried', async () => {
    const server = await startMailServer()
    await server.close()
    expect(await sender(server.port)()).toEqual({
      state: 'retry',
      error: expect.stringContaining('ECONNREFUSED'),
    })
  })
})

describe('the connection to the mail server', () => {
  const certificate = selfSigned()
  const password = 'tops3cret-canary'
  const asAda = {
    onAuth: (
      auth: { username?: string; password?: string },
      _: unknown,
      done: (error: Error | null, answer?: { user: string }) => void,
    ) =>
      auth.username === 'ada' && auth.password === password
        ? done(null, { user: 'ada' })
        : done(Object.assign(new Error(`no ${auth.password}`), { responseCode: 535 })),
  }

  test('uses TLS from the first byte, with a login, if the certificate is trusted', async () => {
    const server = await serve({ secure: true, ...certificate, ...asAda })
    const send = sender(server.port, {
      secure: true,
      plain: false,
      user: 'ada',
      password,
      ca: certificate.cert,
    })
    expect(await send()).toMatchObject({ state: 'sent' })
    expect(server.mails).toMatchObject([{ secure: true, user: 'ada' }])
  })

  test.each([true, false])(
    'is not taken where the certificate is not trusted (TLS at once: %s)',
    async (secure) => {
      const server = await serve({ secure, ...certificate, ...asAda })
      const outcome = await sender(server.port, { secure, plain: false, user: 'ada', password })()
      expect(outcome).toMatchObject({ state: 'retry' })
      expect(server.mails).toEqual([])
    },
  )

  test('switches to TLS by STARTTLS, which is required', async () => {
    const server = await serve({ ...certificate, ...asAda })
    const send = sender(server.port, { plain: false, user: 'ada', password, ca: certificate.cert })
    expect(await send()).toMatchObject({ state: 'sent' })
    expect(server.mails).toMatchObject([{ secure: true, user: 'ada' }])
    const naked = await serve({ disabledCommands: ['STARTTLS'], ...asAda, allowInsecureAuth: true })
    expect(await sender(naked.port, { plain: false, user: 'ada', password })()).toMatchObject({
      state: 'retry',
    })
    expect(naked.mails).toEqual([])
  })

  test('can be retried if the password is wrong, and never shows it', async () => {
    const server = await serve({ secure: true, ...certificate, ...asAda })
    const wrong = `${password}-not`
    const send = sender(server.port, {
      secure: true,
      plain: false,
      user: 'ada',
      password: wrong,
      ca: certificate.cert,
    })
    const outcome = await send()
    expect(outcome).toEqual({
      state: 'retry',
      error: 'the mail server refused the user or the password (status 535)',
    })
  })
})
