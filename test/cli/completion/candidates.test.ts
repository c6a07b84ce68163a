import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { authCode } from '../../../src/contract/auth-code.ts'
import { fieldsOf } from '../../../src/contract/describe.ts'
import { key } from '../../../src/contract/key.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { webhook } from '../../../src/contract/webhook.ts'
import { json } from '../../fake-hosted.ts'
import { isMeant } from '../terminal/typed-operations.ts'
import { folder, installHooks, service, toService } from '../other-service.ts'
import { svc } from '../svc.ts'
import { machine } from '../../machine.ts'

installHooks()

const offers = async (env: Record<string, string>) => {
  const { exit, out } = await svc('completion words -- org get', {
    cwd: folder.path,
    env: { ...machine, ...env },
  })
  expect(exit).toBe(0)
  return out
}

test('an available key is used to look up candidates', async () => {
  expect(await offers(toService())).toContain('acme\tAcme')
})

test('no credential command runs during completion, because it might prompt for a passphrase', async () => {
  const ran = join(folder.path, 'ran')
  const command = ['sh', '-c', `touch '${ran}'; echo key`]
  const profiles = { prod: { base_url: service.baseUrl, credential_command: command } }
  const file = join(folder.path, 'profiles.json')
  chmodSync(folder.path, 0o700)
  writeFileSync(file, JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
  const { SVC_CONFIG_DIR = '' } = toService()
  expect(await offers({ SVC_CONFIG_DIR })).toBe('')
  expect(existsSync(ran)).toBe(false)
  expect(service.seen).toEqual([])
  expect(await offers({ SVC_CONFIG_DIR, SVC_API_KEY: 'key' })).toContain('acme\tAcme')
})

const lists: [line: string, operation: Operation, rows: object[], offered: string][] = [
  [
    'webhook rotate',
    webhook.listWebhooks,
    [{ webhook_id: 'wh_9fT2kQpX', url: 'https://hooks.acme.example/svc' }],
    'wh_9fT2kQpX\thttps://hooks.acme.example/svc\n',
  ],
  [
    'key rotate',
    key.listKeys,
    [
      { id: '3', name: 'ci', revoked_at: null },
      { id: '4', name: 'old', revoked_at: '2026-01-01T00:00:00.000Z' },
    ],
    '3\tci\n',
  ],
  [
    'org auth-code delete --org 1',
    authCode.listAuthCodes,
    [{ id: '2', label: 'Berlin office' }],
    '2\tBerlin office\n',
  ],
]

test.each(lists)('svc %s is completed from the service', async (line, operation, data, offered) => {
  service.always((request, response) =>
    isMeant(operation, request)
      ? json(200, { status: 'success', message: 'Done', data })(request, response)
      : json(404, { status: 'error', message: 'Not found' })(request, response),
  )
  const { out } = await svc(['completion', 'words', '--', ...line.split(' ')], {
    cwd: folder.path,
    env: toService(),
  })
  expect(out).toBe(offered)
  // A service refuses a field that the operation does not have.
  const known = fieldsOf(operation).map(({ name }) => name)
  for (const { path } of service.seen.filter((request) => isMeant(operation, request)))
    expect(known).toEqual(expect.arrayContaining([...new URL(path, service.baseUrl).searchParams.keys()]))
})
