import { expect, onTestFinished, test } from 'vitest'
import { auditOf, dataOf } from '../../service/fixtures.ts'
import { acme, clock, installHooks, service } from '../../service/mcp/oauth-stage.ts'
import { createAdministrator, signIn } from '../../service/mcp/terminal-stage.ts'
import { onSocket } from '../on-socket.ts'
import { openWorkspace } from './workspace.ts'

installHooks()

const total = 60

/** The service, at which the sign-in ends while this many rows have arrived. */
const listen = (rows: number): Promise<string> => {
  let arrived = 0
  return onSocket(async (request, ...more) => {
    if (request.url.endsWith('/create/user') && (arrived += 1) === rows) clock.tick(9 * 3_600_000)
    return service.app.fetch(request, ...more)
  })
}

const created = async (): Promise<number> =>
  (await auditOf(service, acme.id)).filter(([action]) => action === 'createUser').length

test('an import whose sign-in ends stops between rows, and goes on after the next without repeating one', async () => {
  const grace = await createAdministrator(2)
  const address = await listen(25)
  const imports = async (...more: string[]) => {
    const workspace = openWorkspace(address, (await signIn(grace)).management_token)
    onTestFinished(workspace.close)
    const rows = Array.from({ length: total }, (_, i) => `+12025550${200 + i},u${i}@b.example,U,${i}`)
    workspace.put('u.csv', `mobile,email,first_name,last_name\n${rows.join('\n')}\n`)
    return workspace.svc(['user', 'import', 'u.csv', '--org', 'acme', '-o', 'json', ...more])
  }
  const before = await created()

  const stopped = await imports()
  const done = (await created()) - before
  expect(done).toBeGreaterThan(0)
  expect(done).toBeLessThan(26)
  const { code, message, detail, hint } = JSON.parse(stopped.err.trimEnd().split('\n').at(-1)!)
  expect([stopped.exit, code, message, detail, hint]).toEqual([
    4,
    'signed_out',
    expect.stringMatching(
      new RegExp(`^Stopped; ${done} of ${total} rows are done\\. The sign-in ended at 2030-[-:.TZ\\d]+`),
    ),
    'Correct SVC_API_KEY, or unset it and sign in with "svc profile login default"',
    'svc user import u.csv --org acme -o json --on-conflict skip continues',
  ])

  const rest = await imports('--on-conflict', 'skip')
  expect([rest.exit, JSON.parse(rest.out)]).toMatchObject([
    0,
    { created: total - done, skipped: done, failed: 0 },
  ])
  expect((await created()) - before).toBe(total)
  const users = dataOf(await service.call('GET', `/organization/${acme.id}/users?limit=200`))
  expect(users.filter(({ first_name }: { first_name: string }) => first_name === 'U')).toHaveLength(total)
})
