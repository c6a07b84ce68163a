import { setTimeout as sleep } from 'node:timers/promises'
import { writeFileSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import { outcome, startSvc, svc } from './processes.ts'
import { hintOf, typeLine } from './shell.ts'
import { onTerminal } from './terminal.ts'
import { env, installHooks, path } from './bare-service.ts'
import { prepare } from './prepare.ts'
import { isWhole } from '../whole.ts'

installHooks()
const users = path('users.csv')
/** Enough that an import still runs once some rows are done; in `.ci/long` also more than a page of a list. */
const count = isWhole ? 1200 : 200
let org = ''

const writeUsers = (length: number): void => {
  const rows = Array.from({ length }, (_, i) => `+1202${2_000_000 + i},u${i}@acme.example,U,${i}`)
  writeFileSync(users, `mobile,email,first_name,last_name\n${rows.join('\n')}\n`)
}
let made = 0
beforeEach(async () => {
  org = (await prepare(['org', 'create', '--name', `Acme ${made++}`, '-o', 'id'], env)).trim()
})

const members = async (): Promise<number> => {
  const { SVC_BASE_URL: base, SVC_API_KEY: key } = env
  const answer = await fetch(`${base}/organization/${org}/users?limit=1000`, {
    headers: { 'x-api-key': key! },
  })
  if (answer.headers.get('link')?.includes('rel="next"')) return Infinity
  return ((await answer.json()) as { data: unknown[] }).data.length
}

/** Starts an import and sends a signal once some rows are done. */
const importUntil = async (signal: NodeJS.Signals) => {
  const child = startSvc(['user', 'import', users, '--org', org], env)
  const ended = outcome(child)
  while (child.exitCode === null && (await members()) < 50) await sleep(5)
  child.kill(signal)
  return ended
}

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'an import that was stopped by %s continues and creates each user once',
  async (signal) => {
    writeUsers(count)
    const { exit, stderr } = await importUntil(signal)
    const continuing = `svc user import ${users} --org ${org} --on-conflict skip`
    const hinted = stderr.includes(`${continuing} continues`)
    expect({ exit, hinted }).toEqual(
      signal === 'SIGKILL' ? { exit: null, hinted: false } : { exit: 130, hinted: true },
    )
    const line = hinted ? hintOf({ stderr }) : continuing
    const resumed = await typeLine(`${line} -o json`, env)
    expect(resumed.exit).toBe(0)
    const { created, skipped, failed } = JSON.parse(resumed.stdout) as Record<string, number>
    expect(created).toBeGreaterThan(0)
    expect(skipped).toBeGreaterThan(0)
    expect([created! + skipped!, failed]).toEqual([count, 0])
    const listed = await svc(['user', 'list', '--org', org, '-o', 'id'], env)
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(count)
  },
)

test('an import shows its progress on one line of a terminal, and its export can be piped into an import', async () => {
  writeUsers(count)
  const { exit, screen } = await onTerminal(['user', 'import', users, '--org', org], env, [])
  expect(exit).toBe(0)
  const said = screen.replaceAll(count.toLocaleString('en'), 'N').replaceAll(String(count), 'N')
  expect(said).toMatch(/N users to import into organization \d+ at http:\/\/127/)
  expect(said).toMatch(/\r\d[\d,]* of N done, 0 failed\r/)
  expect(said).toMatch(/created +N/)

  const { stdout } = await svc(['user', 'export', '--org', org], env)
  expect(stdout.split('\n')).toHaveLength(count + 2)
  const again = await svc(
    ['user', 'import', '-', '--org', org, '--on-conflict', 'skip', '-o', 'json'],
    env,
    stdout,
  )
  expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, skipped: count, failed: 0 })
})

test('an import writes no control characters to a pipe', async () => {
  writeUsers(count)
  const { stdout, stderr } = await svc(['user', 'import', users, '--org', org], env)
  expect(stdout).toContain(`created\t${count}`)
  for (const control of ['\r', '\u001b']) expect(stderr).not.toContain(control)
})

test('an import waits for the rate limit of its key and stops at the quota of the organization', async () => {
  const few = path('few.csv')
  const rows = Array.from({ length: 45 }, (_, i) => `+1202${3_000_000 + i},u${i}@acme.example,U,${i}`)
  writeFileSync(few, `mobile,email,first_name,last_name\n${rows.join('\n')}\n`)
  const limits = ['--key-requests-per-second', '1', '--users', '42']
  await prepare(['org', 'limits', 'set', '--org', org, ...limits], env)
  const made = await prepare(
    ['key', 'create', '--name', 'ci', '--org', org, '--can', 'all', '--jq', '.key'],
    env,
  )
  const own = { ...env, SVC_API_KEY: made.trim() }
  const imported = await svc(['user', 'import', few, '--org', org], own)
  expect(imported.stderr).toContain('Rate limit: waiting 1 s')
  expect(imported.stderr).toContain('Users, active or pending: the limit of 42 is reached')
  expect(imported.stderr).toContain(`svc org limits set --org ${org} --users N`)
  expect(imported.exit).toBe(3)
  expect(await members()).toBe(42)
  const more = ['--reset', 'users', '--key-requests-per-second', '1000']
  await prepare(['org', 'limits', 'set', '--org', org, ...more], env)
  expect((await svc(['user', 'import', few, '--org', org, '--on-conflict', 'skip'], own)).exit).toBe(0)
  expect(await members()).toBe(45)
})
