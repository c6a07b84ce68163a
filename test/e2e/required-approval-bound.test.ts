import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { decide } from '../service/approver.ts'
import { type Person, remote } from './person.ts'
import { svcHere } from './prepare.ts'
import { env, folder, holdFor, installHooks, ok, operator, service, newPerson } from './profile-folder.ts'

installHooks()

// An approval that a profile requires covers exactly what is written, and is used once.

let ada: Person
beforeAll(async () => {
  await ok(['profile', 'create', 'prod', '--base-url', service.baseUrl, '--with-key'], operator)
  await ok(['profile', 'set', 'prod', 'require_approval=geofence, user, org, timeslot'])
  await ok(['profile', 'use', 'prod'])
  env.SVC_ASK_KEY = (await ok(['key', 'create', '--name', 'asks', '--can', 'ask', '--jq', '.key'])).trim()
})
beforeEach(async () => {
  ada = await newPerson()
  await ok(['profile', 'set', 'prod', `default_mobile=${ada.mobile}`, `org=${ada.org.slug}`])
})

/** Runs a command that Ada approves, and returns the request as the service stored it. */
const approved = async (args: string[], input = '') => {
  const running = svcHere(args, env, input)
  const ended = running.then((done) => {
    throw new Error(`Nobody was asked: ${done.stderr}`)
  })
  const id = await Promise.race([ada.answer(), ended])
  const { exit, stderr } = await running
  if (exit !== 0) throw new Error(stderr)
  return JSON.parse(await ok(['approve', 'status', id, '-o', 'json']))
}
const fence = ['--name', 'HQ', '--latitude', '52.5', '--longitude', '13.4', '--radius', '100']
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}

test('covers the organization and the input of a call, and the previous values of an update', async () => {
  const created = await approved(['geofence', 'create', ...fence, '--is-active', '0'])
  expect(created.used_at).not.toBeNull()
  expect(created.subject).toMatchObject({
    type: 'request',
    summary: `Geofence create in ${ada.org.slug}: HQ`,
    data: {
      organization: { id: String(ada.org.id), slug: ada.org.slug },
      operation: 'geofence create',
      body: { name: 'HQ', latitude: 52.5, longitude: 13.4, radius: 100, is_active: 0 },
    },
  })
  const [id] = (await ok(['geofence', 'list', '-o', 'id'])).trim().split('\n')
  const updated = await approved(['geofence', 'update', id!, '--radius', '300'])
  expect(updated.subject.fields).toContainEqual({ label: 'radius', value: '300', before: '100' })
  const deleted = await approved(['geofence', 'delete', id!, '--yes'])
  expect(deleted.subject.data.deletions).toHaveLength(1)
  expect(deleted.used_at).not.toBeNull()
})

test('shows a secret as a digest that cannot be guessed offline', async () => {
  const secret = file('secret', 'hunter2')
  const idp = ['--provider', 'okta', '--client-id', 'svc', '--client-secret-file', secret]
  const { subject } = await approved(['org', 'creds', 'set-idp', '--org', ada.org.slug, ...idp])
  expect(subject.data.body).toEqual({
    provider: 'okta',
    client_id: 'svc',
    client_secret: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
  })
  expect(JSON.stringify(subject)).not.toContain('hunter2')
  const hash = createHash('sha256').update('hunter2').digest('hex')
  expect(JSON.stringify(subject)).not.toContain(hash)
})

test('covers the file of an import and the number of its rows', async () => {
  const rows = 'mobile,email,first_name,last_name\n+12025550161,a@b.cc,A,B\n+12025550162,c@d.ee,C,D\n'
  const { subject, used_at } = await approved(['user', 'import', file('users.csv', rows)])
  expect(subject.data).toMatchObject({
    operation: 'user import',
    body: { on_conflict: 'fail' },
    counts: { users: 2 },
    file: { name: 'users.csv', sha256: createHash('sha256').update(rows).digest('hex') },
  })
  expect(used_at).not.toBeNull()
})

test('lists every deletion and change of an apply', async () => {
  await approved(['geofence', 'create', ...fence, '--is-active', '0'])
  const yaml = `svc: 1\norganization: {slug: ${ada.org.slug}, name: Renamed}\ngeofences: []\n`
  const apply = ['apply', file('svc.yaml', yaml), '--prune', '--yes']
  const { subject, used_at } = await approved(apply)
  expect(subject.data).toMatchObject({
    operation: 'apply',
    counts: { change: 1, delete: 1 },
    deletions: ['geofences/HQ'],
  })
  expect(subject.fields).toContainEqual({ label: 'Deletes', value: 'geofences/HQ' })
  expect(JSON.stringify(subject.data.body)).toContain('Renamed')
  expect(used_at).not.toBeNull()
})

test('also waits for the approval that the organization requires for the same call', async () => {
  const other = await holdFor(ada, ['geofence create'])
  const running = svcHere(['geofence', 'create', ...fence, '--is-active', '0'], env)
  // The request of the profile is for the same command, so the rule adds its line to it.
  const own = await ada.answer()
  expect((await decide(remote(service.baseUrl, operator), own, other.key)).status).toBe(200)
  const ruled = await ada.answer()
  expect(await running).toMatchObject({ exit: 0 })
  for (const id of [own, ruled])
    expect(JSON.parse(await ok(['approve', 'status', id, '-o', 'json'])).used_at).not.toBeNull()
})
