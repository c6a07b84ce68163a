import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backup, restore } from '../../../src/service/lifecycle/backup.ts'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

const mobile = '+12025550101'

let folder: string
let remove: () => void
let service: RunningService
let key: string
let said: string[]

const start = (dir: string) =>
  startService({
    port: 0,
    dataDir: dir,
    dev: true,
    env: {},
    log: ({ message = '' }) => void said.push(message),
  })

beforeEach(async () => {
  ;({ path: folder, remove } = temporaryFolder())
  said = []
  service = await start(join(folder, 'data'))
  key = service.operatorKey!
})
afterEach(async () => {
  await service.stop()
  remove()
})

const ask = async (path: string, body: unknown) => {
  const answer = await fetch(service.baseUrl + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as { data: Record<string, string> } }
}

/** Sends a code and reads it in the developer's log. */
const nextCode = async (): Promise<string> => {
  const before = said.length
  await ask('/wp/send/sms', { mobile })
  let code: string | undefined
  await expect
    .poll(
      () =>
        (code = said
          .slice(before)
          .join('\n')
          .match(/Your code is (\d{6})/)?.[1]),
    )
    .toBeTypeOf('string')
  return code!
}

test('one-time values of a backup are no longer valid, and a new sign-in works', async () => {
  await ask('/wp/register/mobile/user', {
    country_code: '+1',
    mobile: '2025550101',
    first_name: 'Ada',
    last_name: 'L',
  })
  const signedIn = await ask('/wp/confirm/register', { mobile, otp: await nextCode() })
  expect(signedIn.status).toBe(200)
  const unused = await nextCode()
  const { refresh_token } = signedIn.body.data
  backup(join(folder, 'data'), join(folder, 'file'))
  // Used after the backup: a store that is put back knows nothing of it.
  expect((await ask('/wp/mobile/refresh/token', { refresh_token })).status).toBe(200)
  expect((await ask('/wp/confirm/register', { mobile, otp: unused })).status).toBe(200)
  await service.stop()

  await restore(join(folder, 'file'), join(folder, 'elsewhere'))
  service = await start(join(folder, 'elsewhere'))
  expect((await ask('/wp/mobile/refresh/token', { refresh_token })).status).toBe(401)
  expect((await ask('/wp/confirm/register', { mobile, otp: unused })).status).toBe(403)
  expect((await ask('/wp/confirm/register', { mobile, otp: await nextCode() })).status).toBe(200)
})
