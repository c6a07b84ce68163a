import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { secretNames } from '../../src/core/env.ts'
import { env, installHooks, path } from './bare-service.ts'
import { svc } from './processes.ts'

installHooks()

const canary = 'canary-4f3a9c1e'
const names = secretNames.filter((name) => !['SVC_API_KEY', 'SVC_ASK_KEY'].includes(name))
const canaries = Object.fromEntries(names.map((name) => [name, `${canary}-${name}`]))

/** A program that writes down its environment and the command lines of all processes, and then does `rest`. */
const spy = (name: string, rest: string): string => {
  const file = path(name)
  const look = `{ tr '\\0' '\\n' < /proc/self/environ; ps -eo args; } > ${path(`${name}.seen`)}`
  writeFileSync(file, `#!/bin/sh\n${look}\n${rest}\n`)
  chmodSync(file, 0o700)
  return file
}

/** What the program saw: it ran, as its PATH shows, and knows none of these. */
const expectNoSecret = (name: string, secrets: string[]): void => {
  const seen = readFileSync(path(`${name}.seen`), 'utf8')
  expect(seen).toMatch(/^PATH=/m)
  expect([canary, ...secrets].filter((secret) => seen.includes(secret))).toEqual([])
}

test('every secret of svc is in the list', () => {
  expect(secretNames.toSorted()).toEqual([
    'MCP_AUTH_TOKEN',
    'SVC_API_KEY',
    'SVC_ASK_KEY',
    'SVC_BOOTSTRAP_API_KEY',
    'SVC_DATABASE_URL',
    'SVC_MASTER_KEY',
    'SVC_METRICS_KEY',
    'SVC_SMS_SECRET',
    'SVC_SMS_URL',
    'SVC_SMTP_PASSWORD',
    'SVC_SMTP_URL',
  ])
})

test('a credential command gets no secret of svc', async () => {
  const { SVC_API_KEY: key = '', SVC_BASE_URL: url = '', ...rest } = env
  writeFileSync(path('key'), `${key}\n`, { mode: 0o600 })
  const program = spy('print-key', `cat ${path('key')}`)
  const home = { ...rest, ...canaries, SVC_CONFIG_DIR: path('config') }
  await svc(['profile', 'create', 'cmd', '--base-url', url, '--credential-command', program], home)
  expect(await svc(['org', 'list', '-p', 'cmd'], { ...home, SVC_ASK_KEY: canary })).toMatchObject({ exit: 0 })
  expectNoSecret('print-key', [key])
})
