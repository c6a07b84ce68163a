import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { curlLine } from '../../src/client/curl.ts'
import { planRequest } from '../../src/client/request.ts'
import { org } from '../../src/contract/org.ts'
import { user } from '../../src/contract/user.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { startFakeHosted } from '../fake-hosted.ts'
import { secretKey, withHosted } from './hosted.ts'
import { machine } from '../machine.ts'

// Replaces curl and prints its arguments, so that a real shell checks the quoting without curl.
const printArguments = 'curl() { for argument; do printf "%s\\0" "$argument"; done; }'

const nasty = `it's "$HOME" \`id\` $(id) \\ ! {a,b} [1-3] @file\nnext\u202e`

const cases: [string, Operation, Record<string, unknown>, Record<string, unknown>][] = [
  ['a read', user.listUsers, { org_id: 1, email: "o'neil@x.example" }, { q: nasty }],
  ['a write', org.createOrganization, { name: nasty }, { deep: { list: [nasty] } }],
  ['a delete', org.deleteOrganization, { org_id: 9 }, {}],
]

test.each(cases)('the curl line of %s is the same request in a shell', async (_, operation, input, extra) => {
  const plan = planRequest('http://[::1]:8080/admin/public/api', operation, input, extra)
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${printArguments}; ${curlLine(plan)}`], {
    env: { SVC_API_KEY: secretKey, ...machine },
  })
  const shell = stdout.split('\0').slice(0, -1)
  expect(shell).toContain('--globoff')
  expect(shell).toContain(plan.url)
  expect(shell).toContain(`x-api-key: ${secretKey}`)
  expect(shell.includes('-X') ? shell[shell.indexOf('-X') + 1] : 'GET').toBe(plan.method)
  const body = shell.indexOf('--data-raw')
  expect(body < 0 ? undefined : JSON.parse(shell[body + 1]!)).toEqual(plan.body)
})

test('the line contains no key and no control characters', () => {
  const line = curlLine(planRequest('https://api.example', org.createOrganization, { name: nasty }))
  expect(line).toContain('"x-api-key: ${SVC_API_KEY:?}"')
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

test.runIf(hasCurl).each(cases)('curl sends what svc sends for %s', async (_, operation, input, extra) => {
  const { client, service } = await withHosted()
  const other = await startFakeHosted()
  onTestFinished(() => other.close())
  await client.call(operation, input, { extra })
  const line = curlLine(planRequest(other.baseUrl, operation, input, extra))
  await promisify(execFile)('/bin/sh', ['-c', line], {
    env: { SVC_API_KEY: secretKey, ...machine },
  })
  const [ours, theirs] = [service.seen[0]!, other.seen[0]!]
  expect([theirs.method, theirs.path, theirs.headers['x-api-key'], theirs.headers['content-type']]).toEqual([
    ours.method,
    ours.path,
    ours.headers['x-api-key'],
    ours.headers['content-type'],
  ])
  expect(theirs.body && JSON.parse(theirs.body)).toEqual(ours.body && JSON.parse(ours.body))
})
