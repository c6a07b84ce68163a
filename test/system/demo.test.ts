import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { bin, svc } from '../e2e/processes.ts'
import { onTerminal, openTerminal } from '../e2e/terminal.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { agrees } from './doc-compare.ts'

const folder = temporaryFolder()
// As root, svc runs PostgreSQL as another user.
chmodSync(folder.path, 0o711)
afterAll(folder.remove)

test.concurrent.each([60, 100, 200])(
  'svc demo completes on a colour terminal of %i columns',
  async (columns) => {
    const { exit, screen } = await onTerminal(['demo'], {}, [], { rows: 50, columns })
    expect(screen.trimEnd().split('\n').at(-1)).toMatch(/\d+ steps, all as expected/)
    expect(exit).toBe(0)
  },
)

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

test('svc demo --nodes completes, prints what docs/scale.md shows, and leaves nothing behind', async () => {
  const { exit, stdout, stderr } = await svc('demo --nodes', { TMPDIR: folder.path })
  expect([exit, stderr]).toEqual([0, ''])
  const [, page = ''] =
    /^\$ svc demo --nodes\n([^]*?)\n```$/m.exec(readFileSync('docs/scale.md', 'utf8')) ?? []
  expect(page).toContain('kill -9')
  const printed = stdout.trimEnd().split('\n')
  expect(agrees(printed, page.split('\n')) || printed).toBe(true)
  expect([readdirSync(folder.path), left()]).toEqual([[], []])
})

test.each(['three nodes start', 'node1=', 'Wait at the third one'])(
  'Ctrl-C after "%s" stops svc demo --nodes, which leaves nothing behind',
  async (text) => {
    const demo = openTerminal(`${bin} demo --nodes`, { env: { TMPDIR: folder.path } })
    expect(await demo.until(() => demo.written().includes(text))).toBe(true)
    expect(left().length).toBeGreaterThan(0)
    demo.type('\x03')
    expect(await demo.ended).toBe(130)
    expect([readdirSync(folder.path), left()]).toEqual([[], []])
  },
)
