import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selfSigned } from '../certificate.ts'
import { startService, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { machine } from '../machine.ts'

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)
const folder = temporaryFolder()
const [cert, key, secret] = ['ca.pem', 'key.pem', 'secret.txt'].map((name) => `${folder.path}/${name}`) as [
  string,
  string,
  string,
]
let service: Service
let env: Record<string, string>
beforeAll(async () => {
  const pair = selfSigned()
  writeFileSync(cert, pair.cert)
  writeFileSync(key, pair.key)
  writeFileSync(secret, 'the-right-one\n')
  service = await startService(`${folder.path}/data`, `svc_op_1a2b3c4d_${'k'.repeat(32)}`, [
    '--tls-cert',
    cert,
    '--tls-key',
    key,
  ])
  const profiles = { SVC_CONFIG_DIR: `${folder.path}/config` }
  const { exit, stderr } = await svc(
    ['profile', 'create', 'tls', '--base-url', service.baseUrl, '--cacert', cert],
    profiles,
  )
  if (exit !== 0) throw new Error(stderr)
  env = { ...profiles, SVC_API_KEY: service.key }
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const shell = async (line: string, given: Record<string, string>) =>
  promisify(execFile)('/bin/sh', ['-c', line], { env: { ...machine, ...given } })
    .then(({ stdout }) => ({ exit: 0, stdout }))
    .catch((error: { code: number; stdout: string }) => ({ exit: error.code, stdout: error.stdout }))

const dryRun = async (...args: string[]): Promise<string> => {
  const { exit, stdout, stderr } = await svc([...args, '--dry-run', '-o', 'json'], env)
  if (exit !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as { curl: string }).curl
}

describe.runIf(hasCurl)('the curl command of --dry-run, over https with a private CA', () => {
  test('creates an organization', async () => {
    const { stdout } = await shell(await dryRun('org', 'create', '--name', "O'Neil & Co", '--slug', 'acme'), {
      SVC_API_KEY: service.key,
    })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success', data: { name: "O'Neil & Co" } })
  })

  test('sends a secret from its variable, not the asterisks', async () => {
    const idp = ['org', 'creds', 'set-idp', '--org', 'acme', '--provider', 'okta', '--client-id', 'abc']
    const line = await dryRun(...idp, '--client-secret-file', secret)
    const without = await shell(line, { SVC_API_KEY: service.key })
    expect(without).toMatchObject({ exit: 2, stdout: '' })
    const { stdout: before } = await svc(['org', 'creds', 'get', '--org', 'acme', '--jq', '.idp'], env)
    expect(before).toBe('null\n')

    await shell(line, { SVC_API_KEY: service.key, MY_CLIENT_SECRET: 'the-right-one' })
    const { stdout: after } = await svc(
      ['org', 'creds', 'get', '--org', 'acme', '--jq', '.idp.client_secret_set'],
      env,
    )
    expect(after).toBe('true\n')
  })
})
