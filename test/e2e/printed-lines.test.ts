import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Ended } from './processes.ts'
import { hintOf, typeLine } from './shell.ts'
import { env, folder, installHooks, path, service } from './bare-service.ts'
import { createGeofence } from './geofence.ts'
import { svcHere } from './prepare.ts'

// The commands that svc prints in hints work when they are typed into a shell exactly as printed.

installHooks({ dev: true })
beforeAll(async () => {
  await run('org', 'create', '--name', 'Acme')
})

const run = (...args: string[]): Promise<Ended> => svcHere(args, env, '', folder.path)

const type = (line: string): Promise<Ended> => typeLine(line, env, folder.path)

test('the hint of an unconfirmed delete deletes', async () => {
  await createGeofence('HQ', env)
  const stopped = await run('geofence', 'delete', '1', '--org', 'acme')
  expect(stopped.exit).toBe(2)
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
})

test('the hint of a delete in a protected profile deletes', async () => {
  await run('profile', 'create', 'prod', '--base-url', service.baseUrl, '--protected')
  await run('org', 'create', '--name', "Ada's", '--slug', 'adas')
  const stopped = await run('org', 'delete', 'adas', '--profile', 'prod', '--yes')
  expect(stopped.exit).toBe(2)
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
})

test('the hint of an unconfirmed apply works', async () => {
  const fence = '  - { name: HQ, latitude: 52.52, longitude: 13.405, radius: 150 }\n'
  writeFileSync(path('my org.yaml'), `svc: 1\norganization: { slug: acme, name: Acme }\ngeofences:\n${fence}`)
  const stopped = await run('apply', 'my org.yaml', '--prune')
  expect(stopped.exit).toBe(2)
  expect(hintOf(stopped)).toContain('--prune')
  expect(await type(hintOf(stopped))).toMatchObject({ exit: 0 })
})

test('the hints for a profile that exists and for one that does not work', async () => {
  const { SVC_BASE_URL: _, ...nowhere } = env
  const login = await svcHere(['profile', 'login', 'stage', '--with-key'], nowhere)
  const [, flag] = /^hint: Type the same command with (.*)$/m.exec(login.stderr)!
  const address = flag!.replace('https://svc.example.com/admin/public/api', service.baseUrl)
  writeFileSync(path('key.txt'), service.key, { mode: 0o600 })
  expect(await type(`svc profile login stage --with-key ${address} < key.txt`)).toMatchObject({ exit: 0 })
  const taken = await run('profile', 'create', 'stage', '--base-url', service.baseUrl)
  expect(await type(hintOf(taken).replace('key=value', 'org=acme'))).toMatchObject({ exit: 0 })
})
