import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningService } from '../../../src/service/lifecycle/serve.ts'
import { type SmsProvider, startSmsProvider } from '../delivery/sms-provider.ts'
import { folder, installHooks, start } from '../started.ts'

installHooks()

let providers: SmsProvider[]
beforeEach(async () => (providers = [await startSmsProvider(), await startSmsProvider()]))
afterEach(async () => {
  await Promise.all(providers.map(({ close }) => close()))
})

const said: string[] = []
let service: RunningService
const write = (text: string): string => {
  const file = join(folder, 'svc.yaml')
  writeFileSync(file, text, { mode: 0o600 })
  return file
}
const configured = async (text: string): Promise<void> => {
  service = await start({
    config: write(text),
    log: ({ level, message }) => void (message && said.push(`${level}: ${message}`)),
  })
  said.length = 0
}
const reloaded = (text: string): string[] => {
  said.length = 0
  write(text)
  service.reload()
  return [...said]
}
const smsOf = ({ url }: SmsProvider): string => `sms: { url: "${url}/send" }\n`
const keptHours = async () => (await fetch(service.healthUrl)).headers.get('svc-idempotency')
const sendTest = async (): Promise<void> => {
  const answer = await fetch(new URL('/svc/v1/delivery/test', service.healthUrl), {
    method: 'POST',
    headers: { 'x-api-key': service.operatorKey!, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: 'sms', to: '+12025550101' }),
  })
  expect(answer.status).toBe(200)
}

test('a reload uses what changed in the configuration, and says so', async () => {
  await configured(`${smsOf(providers[0]!)}retention: { idempotency_hours: 2 }`)
  expect(await keptHours()).toBe('2h')
  expect(reloaded(`${smsOf(providers[1]!)}retention: { idempotency_hours: 3 }`)).toEqual([
    'info: Reloaded the configuration; changed: sms, retention',
  ])
  expect(await keptHours()).toBe('3h')
  const heard = providers[1]!.heard()
  await sendTest()
  await heard
  expect(providers.map(({ posted }) => posted.length)).toEqual([0, 1])
})

test('a configuration that is not valid changes nothing', async () => {
  await configured('retention: { idempotency_hours: 2 }')
  expect(reloaded('retention: { idempotency_hours: 0 }')).toEqual([
    expect.stringMatching(/^warn: The configuration was not reloaded: .*retention\.idempotency_hours/),
  ])
  expect(await keptHours()).toBe('2h')
  expect(reloaded('retention: { idempotency_hours: 2 }')).toEqual([
    'info: Reloaded the configuration; changed: nothing',
  ])
})

test('what only a restart uses is named each time, until it is as it was', async () => {
  await configured('')
  const later = 'warn: Changed in the configuration, but only a restart uses it: sms'
  for (const _ of [1, 2]) expect(reloaded(smsOf(providers[0]!))).toContain(later)
  expect(reloaded('')).not.toContain(later)
})
