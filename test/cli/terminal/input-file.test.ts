import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let folder: string
let remove: () => void
beforeAll(() => {
  ;({ path: folder, remove } = temporaryFolder())
  writeFileSync(join(folder, 'body.json'), '{"name":"Acme"}')
})
afterAll(() => remove())

const run = (line: string) => svc(line, { cwd: folder, env: { SVC_CONFIG_DIR: folder, SVC_API_KEY: 'k' } })

describe('a file argument', () => {
  test('is relative to the folder in which svc was started', async () => {
    const { exit, out } = await run('org update 1 --input body.json --dry-run')
    expect(exit).toBe(0)
    expect(out).toContain('Acme')
  })

  test.each([
    ['org update 1 --input none.json', '--input: cannot read the file none.json: it does not exist'],
    ['org update 1 --input .', '--input: cannot read the file .: it is a folder'],
    ['org update 1 -F name=@none', '-F: cannot read the file none'],
  ])('%s names the file that cannot be read', async (line, words) => {
    const { exit, err } = await run(line)
    expect(exit).toBe(2)
    expect(err).toContain(words)
  })

  test.each([
    'org update 1 --input /dev/zero',
    '--key-file /dev/zero org list',
    'approve verify /dev/zero',
    'user import /dev/zero --org 1',
    'diff /dev/zero',
  ])('%s rejects an endless file without reading it into memory', async (line) => {
    const { exit, err } = await run(line)
    expect(exit).toBe(2)
    expect(err).toMatch(/\d\d MiB/)
  })
})
