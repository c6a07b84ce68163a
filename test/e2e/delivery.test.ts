import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startMailServer, type MailServer } from '../service/delivery/mail-server.ts'
import { startSmsProvider, type SmsProvider } from '../service/delivery/sms-provider.ts'
import { startService, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svcHere } from './prepare.ts'

// The built program with a local mail server and SMS gateway, killed at the worst moments.

const operator = 'svc_op_endtoend_0123456789012345678901234567890'
let folder: ReturnType<typeof temporaryFolder>
let mail: MailServer
let sms: SmsProvider
let service: Service | undefined
beforeEach(async () => {
  folder = temporaryFolder()
  mail = await startMailServer()
  sms = await startSmsProvider()
})
afterEach(async () => {
  await service?.stop()
  await mail.close()
  await sms.close()
  folder.remove()
})

const start = async (): Promise<void> => {
  const config = join(folder.path, 'svc.yaml')
  const { port } = mail
  writeFileSync(
    config,
    `smtp: {url: "smtp://127.0.0.1:${port}", from: a@acme.example}\nsms: {url: "${sms.url}"}\n`,
  )
  service = await startService(join(folder.path, 'data'), operator, ['--config', config])
}
const run = (...args: string[]) =>
  svcHere(args, {
    SVC_BASE_URL: service!.baseUrl,
    SVC_API_KEY: operator,
    SVC_CONFIG_DIR: join(folder.path, 'config'),
  })
const testOf = (channel: string, to: string) =>
  run('notify', 'test', '--channel', channel, '--to', to, '-o', 'json')

describe('svc notify test', () => {
  test("exits 0 and prints the provider's message ID when the provider accepted the message", async () => {
    await start()
    const { exit, stdout } = await testOf('email', 'ada@acme.example')
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      0,
      { channel: 'email', state: 'sent', provider_id: 'Q1' },
    ])
    expect(mail.mails).toMatchObject([{ to: ['ada@acme.example'], from: 'a@acme.example' }])
    const text = await testOf('sms', '+12025550101')
    expect([text.exit, JSON.parse(text.stdout)]).toMatchObject([0, { state: 'sent' }])
  })

  test('exits 1 and prints the reason when the provider did not accept the message', async () => {
    await start()
    mail.behavior.fault = { at: 'rcpt', code: 550 }
    const { exit, stdout, stderr } = await testOf('email', 'ada@acme.example')
    expect([exit, JSON.parse(stdout)]).toMatchObject([1, { state: 'failed' }])
    expect(stderr).toContain('is failed: the mail server refused the message (status 550)')
    await sms.close()
    const text = await testOf('sms', '+12025550101')
    expect(text.exit).toBe(1)
    expect(text.stderr).toContain('is dead: could not reach the SMS provider: connection refused')
    sms = await startSmsProvider()
  })
})

const accept = async (): Promise<string> => {
  const { stdout } = await run(
    'notify',
    'global',
    '--to',
    '+12025550101',
    '--type',
    'notice',
    '--message',
    'x',
    '-o',
    'id',
  )
  return stdout.trim()
}

describe('an accepted message', () => {
  test('is sent again with the same ID after kill -9 during delivery, and not once delivery is recorded', async () => {
    await start()
    sms.behavior.respond = () => undefined
    const heard = sms.heard()
    const id = await accept()
    await heard
    await service!.stop('SIGKILL')
    sms.behavior.respond = (response) => void response.writeHead(200).end()
    const again = sms.heard()
    await start()
    await again
    // A graceful stop records what the provider answered.
    await service!.stop()
    await start()
    expect(JSON.parse((await run('notify', 'outbox', 'show', id, '-o', 'json')).stdout)).toMatchObject({
      state: 'sent',
      attempts: 2,
    })
    expect(sms.posted.map(({ headers }) => headers['idempotency-key'])).toEqual([id, id])
  })

  test('is queued again when the service stops while the provider does not answer', async () => {
    await start()
    sms.behavior.respond = () => undefined
    const heard = sms.heard()
    const id = await accept()
    await heard
    expect(await service!.stop()).toBe(0)
    expect(service!.log()).toContain(`${id}, sms to ••••••••0101: the service stopped; next attempt at`)
    sms.behavior.respond = (response) => void response.writeHead(200).end()
    const again = sms.heard()
    await start()
    await again
    expect(sms.posted).toHaveLength(2)
  })
})

test('an invalid configuration is rejected before anything starts', async () => {
  const config = join(folder.path, 'bad.yaml')
  writeFileSync(config, 'smpt: {}\n')
  const { exit, stderr } = await svc(['serve', '--port', '0', '--data-dir', folder.path, '--config', config])
  expect(exit).toBe(2)
  expect(stderr).toContain('smpt is not a known field; did you mean smtp?')
})
