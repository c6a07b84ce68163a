import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startMailServer } from '../service/delivery/mail-server.ts'
import { startSmsProvider } from '../service/delivery/sms-provider.ts'
import { filesBelow, found, processes, type Place } from './canaries.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const canary = (): string => `canary${randomBytes(9).toString('hex')}`

export const torture: Torture = {
  name: 'Canaries of delivery: texts, a one-time code, recipients, the mail password and the SMS secret',
  must: '0 in output, logs, database, ps',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const operator = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const [password, secret, text, recipient] = [canary(), canary(), canary(), canary()]
    const sms = await startSmsProvider()
    const mail = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ password: given }, _, done) => done(new Error(`wrong: ${given}`)),
    })
    // The provider repeats the secrets that it receives.
    sms.behavior.respond = (response) =>
      void response
        .writeHead(500)
        .end(`${sms.posted.at(-1)!.body} ${sms.posted.at(-1)!.headers.authorization}`)
    const service = await startService(dataDir, operator, [], {
      SVC_SMS_URL: sms.url,
      SVC_SMTP_URL: `smtp://acme@127.0.0.1:${mail.port}`,
      SVC_SMTP_FROM: 'no-reply@acme.example',
      SVC_SMTP_PASSWORD: password,
      SVC_SMS_SECRET: secret,
    })
    const places: Place[] = []
    const run = async (args: string[]): Promise<void> => {
      const env = {
        SVC_BASE_URL: service.baseUrl,
        SVC_API_KEY: operator,
        SVC_CONFIG_DIR: join(folder.path, 'config'),
      }
      const { stdout, stderr } = await svc(args, env)
      places.push({ name: `svc ${args.join(' ')}`, text: stdout + stderr })
    }
    const ask = (id: 'sendGlobalNotification' | 'testDelivery', input: Record<string, unknown>) =>
      must(call(service.baseUrl, id, operator, input))
    try {
      await ask('sendGlobalNotification', { mobile: '+12025550101', type: 'notice', message: text })
      await ask('sendGlobalNotification', { mobile: '+12025550102', type: 'otp' })
      await ask('testDelivery', { channel: 'email', to: `${recipient}@example.com` })
      for (const until = Date.now() + 20_000; sms.posted.length < 2 && Date.now() < until;) await wait(50)
      places.push({ name: 'ps', text: await processes() })
      for (const args of [
        ['notify', 'outbox', 'list', '-o', 'json', '--debug'],
        ['notify', 'outbox', 'list', '--state', 'dead'],
        ['audit', 'list', '-o', 'json'],
      ])
        await run(args)
      const texts = sms.posted.map(({ body }) => JSON.parse(body) as { to: string; text: string })
      const canaries = {
        'SMTP password': password,
        'SMS secret': secret,
        'text of a message': text,
        'e-mail address': recipient,
        'text with a one-time code': texts.find(({ to }) => to === '+12025550102')?.text ?? '',
      }
      await service.stop()
      places.push({ name: 'the log', text: service.log() }, ...filesBelow(dataDir))
      const leaks = found(places, canaries)
      const planted = found([{ name: 'what was posted', text: sms.posted[0]!.body }], canaries)
      return {
        count: places.length * Object.keys(canaries).length,
        failures: leaks.length,
        hits: { 'messages refused': sms.posted.length, places: places.length },
        control: planted.length,
        examples: leaks.slice(0, 8),
      }
    } finally {
      await service.stop()
      await sms.close()
      await mail.close()
      folder.remove()
    }
  },
}
