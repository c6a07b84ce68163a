import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, installHooks, service, toService } from '../other-service.ts'
import { svc } from '../svc.ts'

installHooks()

const offers = async (env: Record<string, string>) => {
  const { exit, out } = await svc('completion words -- org get', {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], ...env },
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
