import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { env, installHooks, path, service } from './approvals.ts'
import { installedLine, withOthers } from './hook-line.ts'
import { svcHere } from './prepare.ts'
import { svc } from './processes.ts'

installHooks()

const agent = () => ({ HOME: path('home'), SVC_CONFIG_DIR: path('agent') })
const way = () => {
  writeFileSync(path('ask.key'), env.SVC_ASK_KEY!, { mode: 0o600 })
  return ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
}

/** A PATH with a Claude Code of this version. */
const withClaude = (version: string): { PATH: string } => {
  mkdirSync(path('bin'), { recursive: true })
  writeFileSync(path('bin/claude'), `#!/bin/sh\necho "${version} (Claude Code)"\n`, { mode: 0o755 })
  return { PATH: `${path('bin')}:${process.env.PATH}` }
}

const statusRows = async (flags: string[] = [], own = agent()) => {
  // In the home folder, the file of a project is the user's own.
  const words = ['hook', 'status', '-o', 'json', ...withOthers(way(), flags)]
  const { exit, stdout } = await svcHere(words, own, '', own.HOME)
  const all = JSON.parse(stdout) as { name: string; state: string; detail: string }[]
  return { exit, of: (name: string) => all.find((row) => row.name === name) }
}

test('svc hook status finds what would block every call', async () => {
  const own = { ...agent(), ...withClaude('2.1.330'), HOME: path('one-hook') }
  mkdirSync(own.HOME)
  const flags = ['--to', env.SVC_DEFAULT_MOBILE!, ...way()]
  const line = await installedLine('claude', flags, own)
  const fine = await statusRows([], own)
  expect(fine.exit).toBe(0)
  expect(fine.of('claude')).toMatchObject({ state: 'ok', detail: expect.stringContaining('holds Bash') })
  expect(fine.of('claude (project)')).toBe(undefined)
  expect(fine.of('service')).toMatchObject({ state: 'ok' })
  expect(fine.of('key')).toMatchObject({ state: 'ok', detail: 'can only request approvals' })
  writeFileSync(path('every.key'), env.SVC_API_KEY!, { mode: 0o600 })
  const strong = await statusRows(['--key-file', path('every.key')], own)
  expect([strong.exit, strong.of('key')?.state]).toEqual([1, 'broken'])
  const down = await statusRows(['--base-url', 'http://127.0.0.1:1/'], own)
  expect([down.exit, down.of('service')?.state]).toEqual([1, 'broken'])
  expect(line).toContain('svc-hook')
  withClaude('2.1.294')
  const open = await statusRows([], own)
  expect([open.exit, open.of('claude')?.state]).toEqual([0, 'open'])
  expect(open.of('claude')?.detail).toContain('2.1.294 runs a call if the hook does not answer in time')
})

test('svc hook status and install say that a call is blocked that no rule holds, if nobody is named', async () => {
  const own = { ...agent(), ...withClaude('2.1.330'), HOME: path('nobody-named') }
  mkdirSync(own.HOME)
  const hook = (args: string[]) => svc(['hook', ...args], own, '', own.HOME)
  const says = 'nobody is named with --to, so a call that no rule of the organization holds is blocked'
  const { stderr } = await hook(['install', 'claude', ...way()])
  expect(stderr).toContain(`Not every call can be approved: ${says}`)
  const { exit, stdout } = await hook(['status', '-o', 'json'])
  expect(exit).toBe(0)
  const found = JSON.parse(stdout).find(({ name }: { name: string }) => name === 'approver')
  expect(found).toMatchObject({ state: 'strict', detail: expect.stringContaining(says) })
})

test('svc hook status and install examine the key and the organization of the hook, not those of the profile', async () => {
  const own = { ...agent(), ...withClaude('2.1.330'), HOME: path('other-home') }
  mkdirSync(own.HOME)
  const hook = (args: string[]) => svc(['hook', ...args], own, '', own.HOME)
  const installed = ['install', 'claude', '--to', env.SVC_DEFAULT_MOBILE!, ...way()]
  expect((await hook(installed)).stderr).toBe('')
  expect((await hook(['status'])).exit).toBe(0)
  for (const [flags, why] of [
    [['--key-file', 'missing.key'], 'missing.key: it does not exist'],
    [['--org', 'nowhere'], 'Organization "nowhere" not found'],
  ] as const) {
    const { exit, stderr } = await hook(withOthers(installed, flags))
    expect(exit).toBe(0)
    expect(stderr).toContain('Every held call is blocked')
    expect(stderr).toContain(why)
    const status = await hook(['status'])
    expect(status.exit).toBe(1)
    expect(status.stdout).toContain(why)
  }
})
