import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { svc } from './processes.ts'
import { onTerminal } from './terminal.ts'
import { env, installHooks, path } from './bare-service.ts'

installHooks()
beforeAll(async () => {
  env.SVC_ORG = '1'
  await svc('org create --name Acme', env)
  const geofences = Array.from({ length: 60 }, (_, i) => ({
    name: `Site ${i}`,
    latitude: 52.5,
    longitude: 13.4,
    radius: 10,
  }))
  const file = path('acme.json')
  writeFileSync(file, JSON.stringify({ svc: 1, organization: { slug: 'acme', name: 'Acme' }, geofences }))
  await svc(['apply', file, '--yes'], env)
})

const list = ['geofence', 'list']
const size = { rows: 24, columns: 80 }
const rowsOf = (screen: string): number => screen.match(/Site \d+/g)?.length ?? 0

test('a long list on a terminal is paged completely', async () => {
  const counted = await onTerminal(list, { ...env, SVC_PAGER: 'wc -l' }, [], size)
  expect(counted).toEqual({ exit: 0, screen: expect.stringMatching(/^\s*61\s*$/) })
})

test('closing the pager early is not an error', async () => {
  const { exit, screen } = await onTerminal(list, { ...env, PAGER: 'head -n 2' }, [], size)
  expect(exit).toBe(0)
  expect(rowsOf(screen)).toBe(1)
  expect(screen).not.toMatch(/EPIPE|hint/)
})

test('a list is printed without a pager if the pager does not exist', async () => {
  const { exit, screen } = await onTerminal(list, { ...env, PAGER: 'no-such-pager' }, [], size)
  expect(exit).toBe(0)
  expect(rowsOf(screen)).toBe(60)
})

test('a list is not paged on a terminal of unknown size', async () => {
  const { screen } = await onTerminal(list, { ...env, PAGER: 'wc -l' }, [])
  expect(rowsOf(screen)).toBe(60)
})

test('a list is not paged in a pipe', async () => {
  const { stdout } = await svc(list, { ...env, PAGER: 'wc -l', SVC_PAGER: 'wc -l' })
  expect(rowsOf(stdout)).toBe(60)
})
