import { rootCertificates } from 'node:tls'
import type { NodemailerError, SendMailOptions } from 'nodemailer'
import type { Message } from '../call/message.ts'
import type { SmtpSettings } from '../config/smtp-settings.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { nameOf } from './attempt.ts'

const openPool = async ({ host, port, secure, plain, user, password, ca }: SmtpSettings) => {
  // Loaded with the first message, so that the start does not wait for it.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    pool: true,
    host,
    port,
    secure,
    ignoreTLS: plain,
    requireTLS: !secure && !plain,
    ...(user !== undefined && { auth: { user, pass: password } }),
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...rootCertificates, ca] }) },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    dnsTimeout: 10_000,
    socketTimeout: 30_000,
    idleTimeout: 30_000,
    maxConnections: 8,
    // The outbox decides about another attempt.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** False for what could end a header or contain a second address. */
const isOneAddress = (text: string): boolean =>
  /^[^\s\p{Cc}<>(),:;"\\@]+@[^\s\p{Cc}<>(),:;"\\@]+$/u.test(text)

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

const mailOf = (message: Message, id: string, { from }: SmtpSettings): SendMailOptions => ({
  envelope: { from: from.address, to: [message.to] },
  from,
  to: { name: '', address: message.to },
  ...(message.reply_to !== undefined && { replyTo: { name: '', address: message.reply_to } }),
  subject: oneLine(message.subject ?? ''),
  text: message.text,
  // The same at each attempt, so that a mailbox can recognize a repeat.
  messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})

/** The server's id of a message. Nothing else of its answer is stored, which can contain the recipient. */
const idIn = (response: string): string | undefined =>
  /\b(?:queued as|id=)\s?([\w.@-]{1,100})/i.exec(response)?.[1]

const reasons: Record<string, string> = {
  ETLS: 'the mail server has no TLS certificate that can be trusted',
  EAUTH: 'the mail server refused the user or the password',
  EDNS: 'the host name of the mail server was not found',
  ETIMEDOUT: 'the mail server did not answer in time',
}

/** Only a permanent refusal of this recipient or this text is final. Everything else may work later. */
const outcomeOf = (error: NodemailerError): Outcome => {
  const { code = '', permanent, command, responseCode, originalCode } = error
  const final = permanent && (code === 'EENVELOPE' || code === 'EMESSAGE') && command !== 'MAIL FROM'
  const status = responseCode ? ` (status ${responseCode})` : ''
  if (final) return { state: 'failed', error: `the mail server refused the message${status}` }
  const what = reasons[code] ?? `the mail server did not accept it: ${originalCode ?? nameOf(error)}`
  return { state: 'retry', error: `${what}${status}` }
}

/** Sends e-mail by SMTP over a pool of connections. */
export const createMail = (settings: SmtpSettings): { adapter: Adapter; close(): Promise<void> } => {
  let pool: ReturnType<typeof openPool> | undefined
  return {
    adapter: async (message, { id, signal }) => {
      if (!isOneAddress(message.to))
        return { state: 'failed', error: 'the recipient is not a valid e-mail address' }
      if (message.reply_to !== undefined && !isOneAddress(message.reply_to))
        return { state: 'failed', error: 'reply_to is not a valid e-mail address' }
      try {
        const transport = await (pool ??= openPool(settings))
        const { response } = await transport.sendMail({ ...mailOf(message, id, settings), signal })
        return { state: 'sent', provider_id: idIn(response) }
      } catch (error) {
        return outcomeOf(error as NodemailerError)
      }
    },
    close: async () => (await pool)?.close({ force: true }),
  }
}
