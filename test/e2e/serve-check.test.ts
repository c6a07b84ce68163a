import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installHooks, path } from './bare-service.ts'
import { svcHere } from './prepare.ts'
import { svc } from './processes.ts'

installHooks()

const check = (flags: string, env: Record<string, string> = {}, run = svcHere) =>
  run(`serve --check ${flags}`, { SVC_CONFIG_DIR: path('config'), ...env })

test('serve --check accepts what a running service uses, and creates nothing', async () => {
  expect(await check(`--data-dir ${path('data')}`, {}, svc)).toMatchObject({
    exit: 0,
    stdout: 'The service can start with these flags\n',
  })
  expect((await check(`--data-dir ${path('new')}`)).exit).toBe(0)
  expect(existsSync(path('new'))).toBe(false)
})

test('serve --check names the mistake that would end the start', async () => {
  writeFileSync(path('bad.yaml'), 'smtp: 5\n')
  writeFileSync(path('cert.pem'), 'x')
  const data = `--data-dir ${path('data')}`
  const expected: [flags: string, env: Record<string, string>, exit: number, says: string][] = [
    [`${data} --config ${path('bad.yaml')}`, {}, 2, 'bad.yaml'],
    [`${data} --tls-cert ${path('cert.pem')} --tls-key ${path('cert.pem')}`, {}, 2, 'certificate'],
    [`${data} --public-url nowhere`, {}, 2, '--public-url'],
    [`${data} --trusted-proxy nobody`, {}, 2, 'nobody'],
    [data, { SVC_MASTER_KEY: 'short' }, 2, 'SVC_MASTER_KEY'],
    [data, { SVC_MASTER_KEY: '11'.repeat(32) }, 1, 'not the one that this store was created with'],
    ['', { SVC_DATABASE_URL: 'postgres://svc@127.0.0.1:1/svc' }, 2, 'SVC_MASTER_KEY'],
    [
      '',
      { SVC_DATABASE_URL: 'postgres://svc@127.0.0.1:1/svc', SVC_MASTER_KEY: '11'.repeat(32) },
      1,
      'reached',
    ],
  ]
  for (const [flags, env, exit, says] of expected)
    expect([flags, await check(flags, env)]).toEqual([
      flags,
      expect.objectContaining({ exit, stderr: expect.stringContaining(says) }),
    ])
})

test('serve --check finds that the master key of a data folder is missing or another', async () => {
  const data = path('moved')
  cpSync(path('data'), data, { recursive: true })
  rmSync(join(data, 'master.key'))
  const missing = await check(`--data-dir ${data}`)
  expect(missing).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('master key of this store is missing'),
  })
  expect(existsSync(join(data, 'master.key'))).toBe(false)
  writeFileSync(join(data, 'master.key'), '11'.repeat(32), { mode: 0o600 })
  const other = await check(`--data-dir ${data}`)
  expect(other).toMatchObject({ exit: 1, stderr: expect.stringContaining('not the one that this store') })
})
