import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { bin, svc } from '../e2e/processes.ts'
import { onTerminal, openTerminal } from '../e2e/terminal.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const folder = temporaryFolder()
// As root, svc runs PostgreSQL as another user.
chmodSync(folder.path, 0o711)
afterAll(folder.remove)

test.each([60, 100, 200])('svc demo completes on a colour terminal of %i columns', async (columns) => {
  const { exit, screen } = await onTerminal(['demo'], {}, [], { rows: 50, columns })
  expect(screen.trimEnd().split('\n').at(-1)).toMatch(/\d+ steps, all as expected/)
  expect(exit).toBe(0)
})

/** The processes that have the folder of a demo in their command line or environment. */
const left = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false
    try {
      const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')
      return `${read('cmdline')}${read('environ')}`.includes(`${folder.path}/svc-demo`)
    } catch {
      // It has ended, or belongs to another user.
      return false
    }
  })

test('svc demo --nodes completes, and leaves nothing behind', async () => {
  const { exit, stdout, stderr } = await svc('demo --nodes 3', { TMPDIR: folder.path })
  expect([exit, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/in another terminal\]\$ kill -9 \d+/)
  expect(stdout.trimEnd()).toMatch(/12 steps, all as expected, in .* s\. Nothing is left behind\.$/)
  expect([readdirSync(folder.path), left()]).toEqual([[], []])
})

test.each(['PostgreSQL is ready', 'node1=', 'Wait at the third one'])(
  'Ctrl-C after "%s" stops svc demo --nodes, which leaves nothing behind',
  async (text) => {
    const demo = openTerminal(`${bin} demo --nodes 3`, { env: { TMPDIR: folder.path } })
    expect(await demo.until(() => demo.written().includes(text))).toBe(true)
    expect(left().length).toBeGreaterThan(0)
    demo.type('\x03')
    expect(await demo.ended).toBe(130)
    expect([readdirSync(folder.path), left()]).toEqual([[], []])
  },
)
