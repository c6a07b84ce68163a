import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { contentsOf, dataOf } from '../../service/fixtures.ts'
import { ada, clock, installHooks, service } from '../../service/mcp/oauth-stage.ts'
import { createAdministrator, installation, signIn, whoIs } from '../../service/mcp/terminal-stage.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { onSocket } from '../on-socket.ts'
import { svc } from '../svc.ts'

installHooks()

/** Ada is signed in to the profile `mine`. */
const signedIn = async (person = ada) => {
  const { access_token, management_token } = await signIn(person)
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const base_url = await onSocket(service.app.fetch)
  const { origin } = new URL(base_url)
  const ask = { ask_key: access_token, ask_key_origin: origin }
  const manage = management_token === undefined ? {} : { api_key: management_token, api_key_origin: origin }
  const file = join(path, 'profiles.json')
  const mine = { base_url, installation: installation('a'), ...ask, ...manage }
  writeFileSync(file, JSON.stringify({ version: 1, profiles: { mine } }), { mode: 0o600 })
  const logOut = () => svc('profile logout mine', { cwd: path, env: { SVC_CONFIG_DIR: path } })
  const saved = () => JSON.parse(readFileSync(file, 'utf8')).profiles.mine
  return { key: access_token, management: management_token, logOut, saved }
}

test.each([
  [
    'has expired',
    async () => clock.tick(9 * 3_600_000),
    'its keys had expired, and expired keys need no revocation; requests that are pending stay until they expire',
  ],
  [
    'was ended elsewhere',
    async (id: string) => void dataOf(await service.call('DELETE', `/svc/v1/keys/${id}`)),
    'the service had ended its keys before',
  ],
])('signing out after the sign-in %s says that nothing was revoked', async (_, end, why) => {
  const { key, logOut, saved } = await signedIn()
  await end(dataOf(await whoIs(key)).id)
  const before = await contentsOf(service)
  const { exit, out } = await logOut()
  expect([exit, out]).toEqual([
    0,
    expect.stringContaining(
      `\tSigned out of profile mine: removed its keys here. Nothing was revoked: ${why}\n`,
    ),
  ])
  expect(saved().ask_key).toBeUndefined()
  expect(await contentsOf(service)).toEqual(before)
})

test('signing out revokes the keys, and removes them only then', async () => {
  const { key, logOut, saved } = await signedIn()
  const { exit, out } = await logOut()
  expect([exit, out]).toEqual([0, expect.stringContaining('\tSigned out of profile mine\n')])
  expect([(await whoIs(key)).status, saved().ask_key]).toEqual([401, undefined])
})

test('signing out revokes the other key of a sign-in of which one was ended on the approver page', async () => {
  const { key, management, logOut, saved } = await signedIn(await createAdministrator(2))
  dataOf(await service.call('DELETE', `/svc/v1/keys/${dataOf(await whoIs(key)).id}`))
  expect((await whoIs(management!)).status).toBe(200)
  const { exit, out } = await logOut()
  expect([exit, out]).toEqual([0, expect.stringContaining('\tSigned out of profile mine\n')])
  expect([(await whoIs(management!)).status, saved().api_key]).toEqual([401, undefined])
})
