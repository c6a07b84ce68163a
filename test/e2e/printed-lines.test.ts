import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { svc, type Ended } from './processes.ts'
import { hintOf, typeLine } from './shell.ts'
import { env, folder, installHooks, path, service } from './bare-service.ts'
import { createGeofence } from './geofence.ts'

// What svc prints to go on with is typed into a shell, to the letter, and goes on.

installHooks(['--dev'])
beforeAll(async () => {
  await run('org', 'create', '--name', 'Acme')
})

const run = (...args: string[]): Promise<Ended> => svc(args, env, '', folder.path)

const type = (line: string): Promise<Ended> => typeLine(line, env, folder.path)

test('a delete that nobody could confirm is done by the line it prints', async () => {
  await createGeofence('HQ', env)
  const stopped = await run('geofence', 'delete', '1', '--org', 'acme')
  expect(stopped.exit).toBe(2)
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
})

test('a delete in a protected profile is done by the line it prints', async () => {
  await run('profile', 'create', 'prod', '--base-url', service.baseUrl, '--protected')
  await run('org', 'create', '--name', "Ada's", '--slug', 'adas')
  const stopped = await run('org', 'delete', 'adas', '--profile', 'prod', '--yes')
  expect(stopped.exit).toBe(2)
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
})

test('an apply that nobody could confirm, and one whose plan is stale, go on with the lines they print', async () => {
  const fence = '  - { name: HQ, latitude: 52.52, longitude: 13.405, radius: 150 }\n'
  writeFileSync(path('my org.yaml'), `svc: 1\norganization: { slug: acme, name: Acme }\ngeofences:\n${fence}`)
  const stopped = await run('apply', 'my org.yaml', '--prune')
  expect(stopped.exit).toBe(2)
  expect(hintOf(stopped)).toContain('--prune')
  expect(await run('apply', 'my org.yaml', '--plan-out', 'my org.plan')).toMatchObject({ exit: 0 })
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
  const stale = await run('apply', '--plan', 'my org.plan', '--yes')
  expect(stale.stderr).toContain('out of date')
  expect(await type(hintOf(stale).replace('FILE', 'new.plan'))).toMatchObject({ exit: 0 })
  expect(await run('apply', '--plan', 'new.plan', '--yes')).toMatchObject({ exit: 0 })
})

test('a name that is taken, a profile that is not there: the lines they print are commands that run', async () => {
  const { SVC_BASE_URL: _, ...nowhere } = env
  const login = await svc(['profile', 'login', 'stage', '--with-key'], nowhere)
  const line = hintOf(login).replace('https://svc.example.com/admin/public/api', service.baseUrl)
  writeFileSync(path('key.txt'), service.key, { mode: 0o600 })
  expect(await type(`${line} --with-key < key.txt`)).toMatchObject({ exit: 0 })
  const taken = await run('profile', 'create', 'stage', '--base-url', service.baseUrl)
  expect(await type(hintOf(taken).replace('key=value', 'org=acme'))).toMatchObject({ exit: 0 })
})
