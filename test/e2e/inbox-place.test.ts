import { beforeAll, expect, test } from 'vitest'
import { svcHere } from './prepare.ts'
import { hintOf, typeLine } from './shell.ts'
import { onTerminal } from './terminal.ts'
import { requestLine, begin, env, installHooks, key, ok } from './approvals.ts'

installHooks()

const enter = '\r'
const down = '\u001b[B'

beforeAll(async () => {
  const fence = ['--name', 'HQ', '--latitude', '52.52', '--longitude', '13.405', '--radius', '150']
  await ok(['geofence', 'create', '--org', 'acme', ...fence, '--is-active', '1'])
})

test('approving without a location that a rule requires fails, and the hint completes the command', async () => {
  const id = (await ok(['approve', 'submit', 'Deploy', '-o', 'id'])).trim()
  const stopped = await svcHere(['approve', 'inbox', ...key(), '--approve', id], env)
  expect(stopped).toMatchObject({ exit: 2, stderr: expect.stringContaining('Nothing was decided') })
  expect(await ok(['approve', 'status', id, '--jq', '.status'])).toBe('pending\n')

  const line = hintOf(stopped).replace('<degrees>', '52.52').replace('<degrees>', '13.405')
  expect(await typeLine(line, env)).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('status\tapproved'),
  })
})

test('the inbox prompts for the location and sends it', async () => {
  const request = begin(['approve', 'request', 'Deploy'])
  await request.printed(requestLine)
  const inbox = await onTerminal(['approve', 'inbox', ...key()], env, [
    [/Deploy" \(key "asks"/, enter],
    [/required by a geofence[^]*Your decision/, down + enter],
    [/Latitude/, `52.52${enter}`],
    [/Longitude/, `13.405${enter}`],
    [/Sign the approval of: Deploy\?/, `y${enter}`],
    [/The request is approved[^]*No pending requests/, enter],
  ])
  expect(inbox.exit).toBe(0)
  expect((await request.ended).exit).toBe(0)
})

test('a location outside every geofence is denied with the reason', async () => {
  const id = (await ok(['approve', 'submit', 'Deploy', '-o', 'id'])).trim()
  const far = ['--latitude', '0', '--longitude', '0']
  const denied = await svcHere(['approve', 'inbox', ...key(), '--approve', id, ...far], env)
  expect(denied).toMatchObject({ exit: 6, stderr: expect.stringContaining('from HQ') })
})
