import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type Mail = { from: string; to: string[]; raw: string; secure: boolean; user: unknown }
type Fault = { at: 'rcpt' | 'data'; code: number }

/** A real local mail server that records e-mails, and refuses, delays or disconnects as configured. */
export const startMailServer = async (options: SMTPServerOptions = {}) => {
  const mails: Mail[] = []
  const behavior: { fault?: Fault; mode: 'take' | 'stall' | 'cut' } = { mode: 'take' }
  let stalled: (() => void) | undefined
  const refusal = ({ code }: Fault): Error =>
    Object.assign(new Error(`5.1.1 ada@example.com is not here`), { responseCode: code })
  const server = new SMTPServer({
    authOptional: options.onAuth === undefined,
    disableReverseLookup: true,
    logger: false,
    ...options,
    onRcptTo: (_address, _session, done) =>
      done(behavior.fault?.at === 'rcpt' ? refusal(behavior.fault) : undefined),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (behavior.mode === 'stall') return stalled?.()
        if (behavior.mode === 'cut') {
          for (const connection of server.connections)
            (connection as { _socket: { destroy(): void } })._socket.destroy()
          return undefined
        }
        if (behavior.fault?.at === 'data') return done(refusal(behavior.fault))
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          secure: session.secure,
          user: session.user,
        })
        return done(null, `OK: queued as Q${mails.length}`)
      })
    },
  })
  server.on('error', () => undefined)
  const listening = await new Promise<ReturnType<typeof server.listen>>((resolve) => {
    const net = server.listen(0, '127.0.0.1', () => resolve(net))
  })
  const { port } = listening.address() as AddressInfo
  return {
    port,
    mails,
    behavior,
    /** Resolves when the server has accepted an e-mail without answering. */
    stalled: new Promise<void>((resolve) => (stalled = resolve)),
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>
